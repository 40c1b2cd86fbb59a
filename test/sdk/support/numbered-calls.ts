import { isObject, type JsonObject } from '../../../server/lib/json.ts'
import type { RecordingCase } from '../../helpers/recordings.ts'
import { recordedEvents } from './cases.ts'

/**
 * The chunks with their calls numbered as clients expect: from 0, in the order in which their ids arrive. Recorded
 * services that number calls in another way, or not at all, give each call an id.
 */
export function numberedCalls(chunks: readonly JsonObject[]): JsonObject[] {
  const ids: unknown[] = []
  const copies = structuredClone(chunks) as JsonObject[]
  const choices = copies.flatMap(({ choices }) => (Array.isArray(choices) ? (choices as JsonObject[]) : []))
  for (const { delta } of choices) {
    const calls = isObject(delta) && Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as JsonObject[]) : []
    for (const call of calls) {
      const { id } = call
      if (id && !ids.includes(id)) ids.push(id)
      if (id) call['index'] = ids.indexOf(id)
    }
  }
  return copies
}

/**
 * The recording with its calls numbered as in OpenAI's format. Unchanged if the service numbers its calls in this way.
 */
export function withNumberedCalls(recording: RecordingCase): RecordingCase {
  const events = recordedEvents(recording)
  const numbered = numberedCalls(events)
  if (JSON.stringify(events) === JSON.stringify(numbered)) return recording
  const end = recording.responseText.includes('[DONE]') ? 'data: [DONE]\n\n' : ''
  const responseText = numbered.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') + end
  return { ...recording, responseText, response: { ...recording.response, body: Buffer.from(responseText) } }
}
