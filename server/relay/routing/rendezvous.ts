import { hashNumber } from '../../lib/quick-hash.ts'

const range = 2 ** 32

/**
 * The rank of a candidate for a session, by weighted rendezvous hashing. A session belongs to the candidate with the
 * lowest rank. Every node computes the same order. Each candidate gets sessions in proportion to its weight. If a
 * candidate is added or removed, only its own share of the sessions moves.
 */
export function rankOf(session: number, candidate: number, weight: number): number {
  return -Math.log((hashNumber(session, candidate) + 0.5) / range) / weight
}
