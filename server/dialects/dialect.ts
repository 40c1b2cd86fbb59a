import type { JsonObject } from '../lib/json.ts'

/** What a prompt consists of, for counting its tokens: texts, and tokens of everything that is not text. */
export interface PromptText {
  texts: readonly string[]
  fixedTokens: number
  /** Images, sound or files are among it, of which nobody can tell from the request how many tokens they make. */
  hasMedia?: boolean
}

/** What the gateway must know of a request, whatever its dialect. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** The caller asked for a usage chunk at the end of the stream. */
  wantsStreamUsage: boolean
  /** Most completion tokens asked for, per choice; undefined = left to the model. */
  maxTokens: number | undefined
  /** How many completions are generated (and paid for). */
  choices: number
  prompt: PromptText
}

/** What one event of a stream means to the gateway. */
export type StreamSignal =
  | 'content'
  /** Carries usage and nothing else: withheld from a caller who did not ask for it. */
  | 'usage-only'
  /** The dialect's proper end. */
  | 'done'
  /** The upstream reports an error within the stream. */
  | 'error'
  /** Not decodable. */
  | 'garbage'

/** Follows one stream in one dialect: feed it the data of every event, in order. */
export interface StreamMeter {
  /**
   * Takes the events from `from` on of which can be seen without reading them that they are plain content, and returns
   * where the first stands that must be fed. What is skimmed is read only if it must be counted. `text` holds whole
   * events without CR.
   */
  skim(text: string, from: number): number
  feed(data: string): StreamSignal
  /** The last usage the upstream reported, raw. */
  readonly usage: JsonObject | undefined
  /** Everything generated so far that would be charged: text, tool calls, reasoning. */
  output(): string
  /** Events with content so far: each carries about a token or more. */
  readonly pieces: number
  /** Characters generated so far. */
  readonly characters: number
  /** What the caller's client expects at the end where the upstream leaves it out; '' = nothing. */
  readonly endMark: string
  /** The answer is complete even if the end mark never comes. */
  readonly finished: boolean
  /** The error the upstream reported within the stream. */
  readonly error: JsonObject | undefined
}
