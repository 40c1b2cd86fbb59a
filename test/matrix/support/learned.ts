import type { JsonObject } from '../../../server/lib/json.ts'

/** The token counts of an answer: totals, and parts of these totals. */
export interface Counted {
  prompt: number
  completion: number
  cached: number
  reasoning: number
}

/** Why an answer ended, independent of any dialect. */
export type End = 'stop' | 'stop-sequence' | 'length' | 'tool-calls' | 'refusal' | 'content-filter' | 'pause' | 'other'

/** A tool call. `id` is undefined if the service sends none. */
export interface LearnedCall {
  id: string | undefined
  name: string
  /** Parsed arguments, or the text of a freeform call. */
  input: unknown
}

/** What a client must receive from an answer, whatever is between the client and the service. */
export interface Learned {
  text: string
  thought: string
  calls: LearnedCall[]
  end: End
  usage: Counted | undefined
}

/** An answer as its service reported it, with the charge for its usage at the prices of these tests. */
export interface Recorded extends Learned {
  /** Spoken text. Callers whose dialect has no audio receive it as text. */
  spoken: string
  /** The charge in quota. Undefined if no usage was reported. */
  quota: number | undefined
}

/** Reads recorded answers of one format, without using any of the gateway's code. */
export interface WireReader {
  whole(body: JsonObject): Recorded
  /** The data of all events, in order. */
  stream(data: readonly string[]): Recorded
}

/** An empty answer. */
export function nothing(): Recorded {
  return { text: '', thought: '', calls: [], end: 'other', usage: undefined, spoken: '', quota: undefined }
}

/** The arguments of a call, as a client parses them. */
export function parsedInput(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
