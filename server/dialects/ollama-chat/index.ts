import { isObject, type JsonObject } from '../../lib/json.ts'
import type { UpstreamDialect } from '../neutral/dialect.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import type { Failure } from '../neutral/reply.ts'
import { decodeReply } from './reply.ts'
import { encodeRequest } from './request-out.ts'
import { OllamaStreamDecoder } from './stream-in.ts'

function decodeFailure(status: number, body: unknown): Failure {
  return { status: status || 502, kind: kindOfStatus(status || 502), message: messageOf(body, status) }
}

/** Ollama's own chat API. */
export const ollamaChat: UpstreamDialect = {
  name: 'ollama-chat',
  encodeRequest,
  decodeReply,
  streamDecoder: (idSeed) => new OllamaStreamDecoder(idSeed),
  decodeFailure,
  failureWithin: (wire: JsonObject) =>
    wire['error'] !== undefined && !isObject(wire['message']) ? decodeFailure(0, wire) : undefined,
}
