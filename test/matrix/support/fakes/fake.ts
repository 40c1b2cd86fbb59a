import type { JsonObject } from '../../../../server/lib/json.ts'
import type { RecordedRequest } from '../../../helpers/fake-upstream.ts'
import type { Feature } from '../features.ts'

/** A tool call. */
export interface SaidCall {
  id: string
  name: string
  input: JsonObject
  /** The input of a tool that takes plain text, if the format has such tools. */
  freeText?: string
}

/** What the model of a fake service answers. */
export interface Said {
  thought: string
  text: string
  calls: readonly SaidCall[]
  /** The id of the answer, if it must be a specific one. */
  answerId?: string
  /** The signature of a reasoning part, which only the service can read, if its format has a field for it. */
  seal?: string
}

/** How a fake service refuses a request. */
export interface Refusal {
  status: number
  body: unknown
  /** The status that the refusal represents, for services that respond to everything with 200. */
  means?: number
}

/** A service with one wire format, small enough to read at a glance. */
export interface Fake {
  /** The features that the format cannot express, and why. */
  cannot?: Partial<Record<Feature, string>>
  /** True if the service reports no usage. */
  countsNothing?: true
  /** Whether a request asks for a stream. */
  streams(request: RecordedRequest): boolean
  whole(said: Said): unknown
  /** Chunks of the stream, each sent separately. */
  pieces(said: Said): (string | Uint8Array)[]
  /** Default: server-sent events. */
  streamType?: string
  refusal(status: 400 | 429, message: string): Refusal
}

/** The usage of every answer of a fake service. */
export const used = { prompt: 20, completion: 10 }

/** A text in two halves, so that the reader has to assemble it. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return text === '' ? [] : [text.slice(0, middle), text.slice(middle)]
}

/** Server-sent events with these objects as JSON. Strings are sent unchanged as the data. */
export function events(...data: readonly (object | string)[]): string[] {
  return data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`)
}

/** Server-sent events that also have a name, which is the object's type. */
export function namedEvents(...data: readonly ({ type: string } & JsonObject)[]): string[] {
  return data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
}

/** True if the request's body asks for a stream. */
export function asksToStream(request: RecordedRequest): boolean {
  return request.fields['stream'] === true
}
