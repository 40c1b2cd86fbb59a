import type { JsonObject } from '../../lib/json.ts'
import { errorOut } from '../failures/openai-failure.ts'
import type { Failure } from '../neutral/reply.ts'
import { failedOut } from './reply.ts'

/**
 * The events that end a stream from a service of this dialect if the stream was cut off. Some client programs react to
 * the event `error`, and others wait for `response.failed`, so both are sent. `head` contains the ids of the answer.
 * `sequence` is the number of the next event.
 */
export function failedEvents(failure: Failure, requestId: string, head: JsonObject, sequence: number): string {
  const error = errorOut(failure, requestId)
  const { code, message, param } = error
  const response = {
    id: head['id'] || null,
    object: 'response',
    created_at: head['created_at'] ?? 0,
    background: false,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: head['model'] ?? '',
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
    ...failedOut(failure),
  }
  const events = [
    { type: 'error', sequence_number: sequence, code, message, param, error },
    { type: 'response.failed', sequence_number: sequence + 1, response },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}
