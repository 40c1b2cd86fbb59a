import type { Measure } from '../charging/charging-types.ts'
import { measure } from '../charging/measure.ts'
import { type Answering, settle, takeOver } from '../charging/settlement.ts'
import { noteHealth } from '../failures/note-health.ts'
import { answerHeaders } from '../headers/relay-headers.ts'

const jsonType = /^application\/(?:[\w.+-]+\+)?json\b/i

/** A complete response as the caller receives it, with the figures from which its charge is calculated. */
export type WholeAnswer = Parameters<typeof measure>[2] & {
  text: string
  /** A body that was parsed as JSON is sent as JSON, whatever content type the upstream gave it. */
  isJson?: true
  beside?: Partial<Measure> | undefined
}

/** Charges for a complete response and returns it to the caller. */
export async function settleWhole(answering: Answering, answer: WholeAnswer): Promise<Response> {
  const { deps, open, response } = answering
  const { text, isJson } = answer
  const firstByteMs = deps.clock.nowMs() - open.call.startedAtMs
  takeOver(answering)
  noteHealth(deps, open, 'well')
  const measured = measure(deps, open, answer)
  const measurement = measured instanceof Promise ? await measured : measured
  await settle(deps, open, {
    measure: answer.beside ? { ...measurement.measure, ...answer.beside } : measurement.measure,
    outcome: 'complete',
    code: '',
    firstByteMs,
    ...(measurement.note && { note: measurement.note }),
  })
  open.call.leaving.close()
  open.call.leaving.answered(text.length)
  const headers = answerHeaders(response.headers, open.call, open.channel.upstream.key)
  if (isJson && !jsonType.test(headers['content-type'] ?? '')) headers['content-type'] = 'application/json'
  return new Response(text, { status: response.status, headers })
}
