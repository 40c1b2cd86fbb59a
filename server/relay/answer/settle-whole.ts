import type { RelayDeps } from '../call/deps.ts'
import type { Measure } from '../charging/charging-types.ts'
import { measure } from '../charging/measure.ts'
import { type OpenCall, settle } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'
import { answerHeaders } from '../headers/relay-headers.ts'

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i

/** Charges a whole answer and gives it to the caller. */
export async function settleWhole(
  deps: RelayDeps,
  open: OpenCall,
  response: Response,
  text: string,
  answer: Parameters<typeof measure>[2] & { beside?: Partial<Measure> | undefined },
  handOver: () => void,
  isJson: boolean,
): Promise<Response> {
  const firstByteMs = deps.clock.nowMs() - open.call.startedAtMs
  handOver()
  noteHealth(deps, open, 'well')
  const measured = measure(deps, open, answer)
  const found = measured instanceof Promise ? await measured : measured
  await settle(deps, open, {
    measure: answer.beside ? { ...found.measure, ...answer.beside } : found.measure,
    outcome: 'complete',
    code: '',
    firstByteMs,
    ...(found.note && { note: found.note }),
  })
  open.call.leaving.close()
  open.call.leaving.answered(text.length)
  const headers = answerHeaders(response.headers, open.call, open.channel.upstream.key)
  // What was read as JSON is sent as JSON, whatever the upstream called it.
  if (isJson && !jsonType.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/json'
  return new Response(text, { status: response.status, headers })
}
