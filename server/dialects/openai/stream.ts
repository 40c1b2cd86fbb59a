import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { countPlainEvents, splitEvents } from '../../lib/sse.ts'
import type { StreamMeter, StreamSignal } from '../dialect.ts'
import { usageOf } from './usage.ts'

/** What makes an event more than plain content, in JSON without spaces; with spaces nothing is skimmed. */
const marks = ['"finish_reason":"', '"usage":{', '"error"', '[DONE]', '"content":""', '": ']

/** Characters of events kept unread; longer streams than most answers are read after all, piece by piece. */
const mostSkimmed = 16_384

/** Follows a stream of chat or legacy completion chunks (OpenAI API reference, "chat completion chunk object"). */
export class OpenAiStreamMeter implements StreamMeter {
  readonly endMark = 'data: [DONE]\n\n'
  usage: JsonObject | undefined
  error: JsonObject | undefined
  pieces = 0
  characters = 0
  #parts: string[] = []
  /** Skimmed texts, and where they belong among the parts. */
  #skimmed: { text: string; at: number }[] = []
  #skimmedLength = 0
  /** What an event is without its content, at most: read from one event before others are skimmed. */
  #envelope = Number.POSITIVE_INFINITY
  readonly #openChoices = new Set<number>()
  readonly #finishedChoices = new Set<number>()
  readonly #choices: number

  /** `choices`: how many answers were asked for. */
  constructor(choices = 1) {
    this.#choices = choices
  }

  get finished(): boolean {
    this.#readSkimmed()
    return this.#finishedChoices.size >= this.#choices && this.#openChoices.size === 0
  }

  output(): string {
    this.#readSkimmed()
    return this.#parts.join('')
  }

  skim(text: string, from: number): number {
    if (this.#envelope === Number.POSITIVE_INFINITY) return from
    let mark = text.length
    for (const each of marks) {
      const found = text.indexOf(each, from)
      if (found >= 0 && found < mark) mark = found
    }
    // Up to the start of the event with the mark; 2 is the length of the blank line before it.
    const boundary = text.lastIndexOf('\n\n', mark)
    const to = mark === text.length ? mark : boundary < from ? from : boundary + 2
    const events = to > from ? countPlainEvents(text, from, to) : 0
    if (events === 0) return from
    const length = to - from
    this.#skimmed.push({ text: text.slice(from, to), at: this.#parts.length })
    this.#skimmedLength += length
    this.#envelope = Math.min(this.#envelope, length / events)
    this.pieces += events
    this.characters += Math.ceil(length - events * this.#envelope) + events
    // An event is many times as long as what it says: what is kept must not grow with the stream like the stream.
    if (this.#skimmedLength > mostSkimmed) this.#readSkimmed()
    return to
  }

  /** Reads what was skimmed, in its place among the parts; the running figures were moved when it came. */
  #readSkimmed(): void {
    if (this.#skimmed.length === 0) return
    const { pieces, characters } = this
    const parts = this.#parts
    const skimmed = this.#skimmed
    this.#skimmed = []
    this.#parts = []
    let from = 0
    for (const { text, at } of skimmed) {
      this.#parts.push(...parts.slice(from, at))
      from = at
      for (const { data } of splitEvents(text)) if (data !== undefined) this.feed(data)
    }
    this.#parts = [this.#parts.join('') + parts.slice(from).join('')]
    this.#skimmedLength = 0
    this.pieces = pieces
    this.characters = characters
  }

  feed(data: string): StreamSignal {
    if (data === '[DONE]' || data.trim() === '[DONE]') return 'done'
    if (data.trim() === '') return 'content'
    const chunk = tryParse(data)
    if (!isObject(chunk)) return 'garbage'
    const usage = usageOf(chunk)
    if (usage) this.usage = usage
    if (isError(chunk)) {
      const { error } = chunk
      this.error = isObject(error) ? error : { message: Array.isArray(error) ? '' : String(error) }
      return 'error'
    }
    const choices = chunk['choices']
    if (!Array.isArray(choices) || choices.length === 0) return usage ? 'usage-only' : 'content'
    const before = this.characters
    for (const choice of choices as unknown[]) if (isObject(choice)) this.#choice(choice)
    this.#envelope = Math.min(this.#envelope, data.length + 'data: \n\n'.length - (this.characters - before))
    return 'content'
  }

  #choice(choice: JsonObject): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0
    const before = this.characters
    const delta = choice['delta']
    if (isObject(delta)) this.#delta(delta)
    this.#add(choice['text'])
    if (this.characters > before) this.pieces++
    // Some services send an empty reason with every chunk.
    if (choice['finish_reason']) {
      this.#openChoices.delete(index)
      this.#finishedChoices.add(index)
    } else if (!this.#finishedChoices.has(index)) {
      this.#openChoices.add(index)
    }
  }

  #delta(delta: JsonObject): void {
    this.#add(delta['content'])
    this.#add(delta['reasoning_content'] ?? delta['reasoning'])
    this.#add(delta['refusal'])
    this.#call(delta['function_call'])
    const calls = delta['tool_calls']
    if (Array.isArray(calls)) for (const call of calls as unknown[]) if (isObject(call)) this.#call(call['function'])
    const audio = delta['audio']
    if (isObject(audio)) this.#add(audio['transcript'])
  }

  #call(call: unknown): void {
    if (!isObject(call)) return
    this.#add(call['name'])
    this.#add(call['arguments'])
  }

  #add(text: unknown): void {
    if (typeof text === 'string' && text !== '') {
      this.#parts.push(text)
      this.characters += text.length
      return
    }
    // Mistral's reasoning models stream content as a list of typed parts.
    if (Array.isArray(text)) {
      for (const part of text as unknown[]) {
        if (!isObject(part)) continue
        this.#add(part['text'])
        this.#add(part['thinking'])
      }
    }
  }
}

/** OpenRouter reports an error beside choices; other services have an empty field there in every event. */
function isError({ error, choices }: JsonObject): boolean {
  if (error === undefined || error === null) return false
  return (
    choices === undefined || (isObject(error) ? Boolean(error['message']) : typeof error === 'string' && error !== '')
  )
}
