import * as z from 'zod/mini'
import { callJson, OutboundError } from './call-json.ts'

export interface Turnstile {
  /** The URL of the service that verifies the answer to a challenge. */
  address: string
  secret: string
}

const answerSchema = z.object({ success: z.boolean() })

/** True if the service confirms that a person solved this challenge just now. Each answer can be verified only once. */
export async function isSolved(turnstile: Turnstile, answer: string, callerAddress: string): Promise<boolean> {
  const verdict = await callJson('The bot check', turnstile.address, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ secret: turnstile.secret, response: answer, remoteip: callerAddress }).toString(),
  })
  const result = z.safeParse(answerSchema, verdict)
  if (!result.success) {
    throw new OutboundError('unavailable', 'The bot check sent an invalid response.', result.error)
  }
  return result.data.success
}
