import { hashNumber } from '../../lib/quick-hash.ts'

const range = 2 ** 32

/**
 * How well a candidate suits a session: the candidate with the lowest rank is the one to which the session belongs.
 * Weighted rendezvous hashing: every node computes the same order, each candidate gets sessions in proportion to its
 * weight, and a candidate that is added or removed moves only its own share of the sessions.
 */
export function rankOf(session: number, candidate: number, weight: number): number {
  return -Math.log((hashNumber(session, candidate) + 0.5) / range) / weight
}
