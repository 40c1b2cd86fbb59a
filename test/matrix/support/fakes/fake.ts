import type { JsonObject } from '../../../../server/lib/json.ts'
import type { RecordedRequest } from '../../../helpers/fake-upstream.ts'
import type { Feature } from '../features.ts'

/** A call of a tool. */
export interface SaidCall {
  id: string
  name: string
  input: JsonObject
  /** The input of a tool that takes plain text, where the format has such tools. */
  freeText?: string
}

/** What a fake service's model says. */
export interface Said {
  thought: string
  text: string
  calls: readonly SaidCall[]
  /** The id of the answer, where it must be one of its own. */
  answerId?: string
  /** State of the thought that only the service can read, where its format has a place for it. */
  seal?: string
}

/** How a fake service refuses. */
export interface Refusal {
  status: number
  body: unknown
  /** What the status means where the service says 200 of everything. */
  means?: number
}

/** A service of one wire format, small enough to be read at a glance. */
export interface Fake {
  /** What the format has no words for, and why. */
  cannot?: Partial<Record<Feature, string>>
  /** The service tells no usage. */
  countsNothing?: true
  /** True when a request asks for a stream. */
  streams(request: RecordedRequest): boolean
  whole(said: Said): unknown
  /** Pieces of the stream, each sent by itself. */
  pieces(said: Said): (string | Uint8Array)[]
  /** Default: server-sent events. */
  streamType?: string
  refusal(status: 400 | 429, message: string): Refusal
}

/** What every answer of a fake service used. */
export const used = { prompt: 20, completion: 10 }

/** A text in two halves, so that something must be put together. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return text === '' ? [] : [text.slice(0, middle), text.slice(middle)]
}

/** Server-sent events of objects; texts are sent as their data. */
export function events(...data: readonly (object | string)[]): string[] {
  return data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`)
}

/** The same with the event's name, which is the type of the object. */
export function namedEvents(...data: readonly ({ type: string } & JsonObject)[]): string[] {
  return data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
}

/** True where the body of a request says so. */
export function asksToStream(request: RecordedRequest): boolean {
  return request.fields['stream'] === true
}
