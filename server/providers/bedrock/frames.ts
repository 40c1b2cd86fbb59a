import { encodeFailure } from '../../dialects/anthropic-messages/failure.ts'
import { streamFailure } from '../../dialects/bedrock-converse/failure.ts'
import { AwsEventFraming, type AwsMessage } from '../../lib/bytes/aws-event-stream.ts'
import { asEvents } from '../../lib/bytes/reframe.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'

const decoder = new TextDecoder()

function payloadOf({ payload }: AwsMessage): JsonObject {
  const value = tryParse(decoder.decode(payload))
  return isObject(value) ? value : {}
}

/** The name of the exception in a message; undefined for an event. */
function exceptionOf({ headers }: AwsMessage): string | undefined {
  const type = headers.get(':message-type')
  if (type === 'event') return undefined
  return headers.get(':exception-type') ?? headers.get(':error-code') ?? 'internalServerException'
}

/** A message of ConverseStream as an object with one field, named after its event or exception. */
function converseMessage(message: AwsMessage): string {
  const exception = exceptionOf(message)
  const name = exception ?? message.headers.get(':event-type') ?? ''
  const text = message.headers.get(':error-message')
  // `p` is padding that prevents traffic analysis by length.
  const { p: _padding, ...payload } = payloadOf(message)
  return JSON.stringify({ [name]: { ...payload, ...(exception && text && { message: text }) } })
}

/**
 * A message of InvokeModelWithResponseStream: an event in the model's own format, or an exception as an Anthropic
 * error.
 */
function anthropicMessage(message: AwsMessage): string | undefined {
  const exception = exceptionOf(message)
  const payload = payloadOf(message)
  if (exception !== undefined) {
    const text = payload['message'] ?? message.headers.get(':error-message')
    return JSON.stringify(encodeFailure(streamFailure(exception, { message: text }), ''))
  }
  const { bytes } = payload
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString('utf8') : undefined
}

/** The event name of a message, which is the same as its type. Anthropic's client libraries rely on event names. */
function typeOf(message: string): string | undefined {
  const event = tryParse(message)
  return isObject(event) && typeof event['type'] === 'string' ? event['type'] : undefined
}

function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('application/vnd.amazon.eventstream')
}

/** Converts responses of ConverseStream into server-sent events. Other responses are returned unchanged. */
export function readConverse(response: Response): Response {
  return isEventStream(response) ? asEvents(response, new AwsEventFraming(converseMessage)) : response
}

/**
 * Converts streamed responses of an invoked Claude model into the events that Anthropic itself would send. Other
 * responses are returned unchanged.
 */
export function readClaude(response: Response): Response {
  return isEventStream(response) ? asEvents(response, new AwsEventFraming(anthropicMessage), typeOf) : response
}
