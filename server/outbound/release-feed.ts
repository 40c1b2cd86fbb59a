import * as z from 'zod/mini'
import { callJson, OutboundError } from './call-json.ts'

/** A release record, as GitHub and similar services return it. */
const releaseSchema = z.object({
  tag_name: z.string().check(z.minLength(1), z.maxLength(200)),
  body: z.nullish(z.string()),
})

/** Release notes may be long, but a response that is longer than this cannot be a release record. */
const limits = { timeMs: 10_000, answerBytes: 512 * 1024 }

/** Reads the latest release from a feed. Throws OutboundError. */
export async function latestRelease(url: string): Promise<{ tag_name: string; body: string }> {
  // GitHub and similar services refuse calls without a user agent.
  const headers = { 'user-agent': 'tollgate' }
  const result = z.safeParse(releaseSchema, await callJson('The release feed', url, { method: 'GET', headers }, limits))
  if (!result.success) {
    throw new OutboundError('refused', 'The release feed has no record of a release.', result.error)
  }
  return { tag_name: result.data.tag_name, body: result.data.body ?? '' }
}
