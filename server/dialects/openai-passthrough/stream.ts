import { isObject, type JsonObject, tryParse, tryStringify } from '../../lib/json.ts'
import { CallInputs } from '../damaged-events/call-inputs.ts'
import { UnreadableEvents } from '../damaged-events/unreadable-events.ts'
import { errorInChunk } from '../failures/flat-error.ts'
import { laterRawReport } from '../metering/later-usage.ts'
import { MediaCounter } from '../metering/media-tokens.ts'
import { TextBuffer } from '../metering/text-buffer.ts'
import type { StreamMeter, StreamSignal } from '../neutral/dialect.ts'
import { looseCount, looseObject, looseText } from '../neutral/fields.ts'
import { usageOf } from '../openai-shared/openai-usage.ts'
import { CallMatcher, repairCall, unnamedCall } from '../wire/call-matcher.ts'

/**
 * After this many consecutive events that `skim` did not recognize, the meter stops remembering the form of each parsed
 * event, because each event of this stream has a different form.
 */
const mostLessons = 32

/** Meters a stream of chat or legacy completion chunks (OpenAI API reference, "chat completion chunk object"). */
export class OpenAiStreamMeter implements StreamMeter {
  readonly endMark = 'data: [DONE]\n\n'
  usage: JsonObject | undefined
  error: JsonObject | undefined
  instead: string | undefined
  pieces = 0
  readonly #output = new TextBuffer()
  readonly #media = new MediaCounter()
  readonly #unreadable = new UnreadableEvents()
  /**
   * The JSON text of the last plain event: the part before its content, and the part after it; '' = no plain event has
   * arrived.
   */
  #before = ''
  #behind = ''
  #lessons = 0
  /** The choices seen so far, and whether each has ended. */
  readonly #ended = new Map<number, boolean>()
  #endedCount = 0
  readonly #choices: number
  readonly #idSeed: string
  /**
   * The calls received so far, by choice, and the state of their inputs. Both are created on demand, because most
   * answers have no calls.
   */
  #matchers: Map<number, CallMatcher> | undefined
  #inputs: CallInputs | undefined
  #hasSpoken = false
  /** True once usage has arrived with a finish reason or after one. */
  #hasLateUsage = false
  /** True if the last chunk with content was a piece of a call. */
  #isCalling = false

  /** `choices` is the number of requested answers. `idSeed` is used to create ids for calls if the answer has no id. */
  constructor(choices = 1, idSeed = '') {
    this.#choices = choices
    this.#idSeed = idSeed
  }

  get finished(): boolean {
    if (this.#unreadable.hasLateGap && !this.#hasLateUsage) return false
    return this.#hasEnded
  }

  /** True if every answer has a finish reason. */
  get #hasEnded(): boolean {
    return this.#endedCount >= this.#choices && this.#endedCount === this.#ended.size
  }

  /**
   * True once content has arrived. A role alone, empty texts and filter results do not count as content. Unknown fields
   * do.
   */
  get speaks(): boolean {
    return this.#hasSpoken || this.characters > 0 || this.media !== undefined || this.#endedCount > 0
  }

  get leftOut(): number {
    return this.#unreadable.count
  }

  get characters(): number {
    return this.#output.length
  }

  get extraBytes(): number {
    return this.#output.extraBytes
  }

  get media() {
    return this.#media.tokens
  }

  output(): string {
    return this.#output.toString()
  }

  skim(text: string, from: number): number {
    const before = this.#before
    const behind = this.#behind
    if (before === '') return from
    let at = from
    while (text.startsWith(before, at)) {
      const start = at + before.length
      const end = text.indexOf('"', start)
      // `skim` stops at content with an escape or a line break, and at an event whose text after the content differs
      // from the remembered one.
      if (end <= start || !text.startsWith(behind, end) || text.indexOf('\n', start) < end) break
      if (text.slice(start, end).includes('\\')) break
      this.#output.add(text, start, end)
      this.pieces++
      at = end + behind.length
    }
    if (at === from) return at
    this.#lessons = 0
    this.#isCalling = false
    this.#unreadable.noteRead()
    return at
  }

  /**
   * Remembers the text before and after a plain event's content, so that `skim` need not parse later events that differ
   * only in the content.
   */
  #learn(data: string, choice: JsonObject, characters: number): void {
    const delta = choice['delta']
    if (characters === 0 || choice['finish_reason'] || !isObject(delta) || ++this.#lessons > mostLessons) return
    const spoken = Object.keys(delta).filter((key) => key !== 'role' && delta[key] !== null && delta[key] !== '')
    const [key = ''] = spoken
    const text = delta[key]
    if (spoken.length !== 1 || typeof text !== 'string' || text.length !== characters) return
    const name = `"${key}":"`
    const at = data.indexOf(name)
    const start = at + name.length
    const end = start + text.length
    const isPlain = at === data.lastIndexOf(name) && data.startsWith(text, start) && data[end] === '"'
    if (at < 1 || data[at - 1] === '\\' || !isPlain || data.includes('\n')) return
    this.#before = `data: ${data.slice(0, start)}`
    this.#behind = `${data.slice(end)}\n\n`
  }

  feed(data: string): StreamSignal {
    this.instead = undefined
    if (data === '[DONE]' || data.trim() === '[DONE]') return this.#done()
    if (data.trim() === '') return 'content'
    const chunk = tryParse(data)
    if (!isObject(chunk)) return this.#leaveOut(data) ? 'skip' : 'garbage'
    this.#unreadable.noteRead()
    const usage = usageOf(chunk)
    if (usage) this.usage = laterRawReport(this.usage, usage)
    const error = errorInChunk(chunk)
    if (error) {
      this.error = error
      return 'error'
    }
    this.#hasSpoken ||= saysSomething(chunk)
    const choices = chunk['choices']
    if (!Array.isArray(choices) || choices.length === 0) {
      if (usage && this.#endedCount > 0) this.#hasLateUsage = true
      return usage ? 'usage-only' : 'content'
    }
    const before = this.characters
    let isRepaired = false
    for (const choice of choices as unknown[]) {
      if (!isObject(choice)) continue
      this.#choice(choice)
      const repair = this.#repairCalls(choice, chunk)
      // The chunk continues a call whose start was in a skipped event.
      if (repair === 'headless') return 'garbage'
      if (repair === 'repaired') isRepaired = true
    }
    if (this.#inputs && this.#hasEnded && this.#inputs.end()) return 'garbage'
    if (isRepaired) this.instead = tryStringify(chunk)
    if (isRepaired && this.instead === undefined) return 'garbage'
    if (usage && this.#endedCount > 0) this.#hasLateUsage = true
    const [first] = choices as unknown[]
    if (!usage && choices.length === 1 && isObject(first)) this.#learn(data, first, this.characters - before)
    return 'content'
  }

  #leaveOut(data: string): boolean {
    const where = { isLate: this.#endedCount > 0, isCalling: this.#isCalling }
    if (!this.#unreadable.mayLeaveOut(data, where)) return false
    this.#inputs?.noteGap()
    return true
  }

  /**
   * Handles the end marker. It does not complete an answer whose finish reason or usage may have been in a skipped
   * event.
   */
  #done(): StreamSignal {
    this.#unreadable.noteRead()
    return this.leftOut > 0 && !this.finished ? 'garbage' : 'done'
  }

  #choice(choice: JsonObject): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0
    const before = this.characters
    const delta = choice['delta']
    if (isObject(delta)) this.#delta(delta)
    this.#add(choice['text'])
    if (choice['finish_reason'] && isObject(choice['message'])) this.#whole(choice['message'])
    if (this.characters > before) this.pieces++
    // Some services send an empty finish reason with every chunk.
    const hasEnded = this.#ended.get(index)
    if (choice['finish_reason']) {
      if (!hasEnded) this.#endedCount++
      this.#ended.set(index, true)
    } else if (hasEnded === undefined) {
      this.#ended.set(index, false)
    }
  }

  /**
   * Corrects the indexes and ids of calls in a chunk if client programs could not use them to join the pieces.
   * Everything that client programs can read is left unchanged.
   */
  #repairCalls(choice: JsonObject, chunk: JsonObject): 'repaired' | 'headless' | undefined {
    const { delta } = choice
    const calls = isObject(delta) ? delta['tool_calls'] : undefined
    const number = looseCount(choice['index'])
    if (!Array.isArray(calls) || calls.length === 0) {
      if (!isObject(delta)) return undefined
      if (typeof delta['content'] === 'string' && delta['content'] !== '') this.#isCalling = false
      if (isObject(delta['function_call'])) this.#oldCall(number, delta['function_call'])
      return undefined
    }
    this.#isCalling = true
    this.#matchers ??= new Map()
    const matcher = this.#matchers.get(number) ?? new CallMatcher()
    this.#matchers.set(number, matcher)
    let isRepaired = false
    let isHeadless = false
    for (const call of calls as unknown[]) {
      if (!isObject(call)) continue
      const matched = matcher.of(call)
      isHeadless ||= matched.isNew && !matched.isNamed
      const idSeed = looseText(chunk['id']) || this.#idSeed
      matcher.isOdd = repairCall(call, matched, matcher.isOdd, () => unnamedCall(idSeed, number, matched.callIndex))
      isRepaired ||= matcher.isOdd
      this.#noteInput(call, `${number} ${matched.callIndex}`, matched.isNew)
    }
    if (isHeadless && this.#unreadable.hasGap) return 'headless'
    return isRepaired ? 'repaired' : undefined
  }

  #noteInput(call: JsonObject, key: string, isNew: boolean): void {
    this.#inputs ??= new CallInputs()
    if (isNew) this.#inputs.begin(key, isObject(call['custom']))
    const called = looseObject(call['function'] ?? call['custom'])
    this.#inputs.add(key, looseText(called['arguments'] ?? called['input']))
  }

  /** Reads a call in the format that preceded `tool_calls`. An answer has at most one such call. */
  #oldCall(choice: number, { name, arguments: input }: JsonObject): void {
    this.#isCalling = true
    this.#inputs ??= new CallInputs()
    const key = `${choice} old`
    if (looseText(name)) this.#inputs.begin(key, false)
    this.#inputs.add(key, looseText(input))
  }

  /** Adds the complete message of the last chunk, if deltas are missing or incomplete. */
  #whole(message: JsonObject): void {
    if (this.characters === 0) this.#delta(message)
    const { content } = message
    // If there are several answers, their texts are counted together, so the missing text of one cannot be determined.
    if (this.#choices > 1 || typeof content !== 'string' || content.length <= this.characters) return
    this.#output.add(content, this.characters)
  }

  #delta(delta: JsonObject): void {
    this.#add(delta['content'])
    this.#add(delta['reasoning_content'] ?? delta['reasoning'])
    this.#add(delta['refusal'])
    this.#call(delta['function_call'])
    const calls = delta['tool_calls']
    if (Array.isArray(calls))
      for (const call of calls as unknown[]) if (isObject(call)) this.#call(call['function'] ?? call['custom'])
    const audio = delta['audio']
    if (isObject(audio)) {
      this.#add(audio['transcript'])
      if (typeof audio['data'] === 'string') this.#media.addSound(audio['data'])
    }
    const { images } = delta
    if (Array.isArray(images)) for (const _ of images) this.#media.addImage()
  }

  #call(call: unknown): void {
    if (!isObject(call)) return
    this.#add(call['name'])
    this.#add(call['arguments'])
    // Calls of custom tools have free text instead of arguments.
    this.#add(call['input'])
  }

  #add(text: unknown): void {
    if (typeof text === 'string') {
      this.#output.add(text)
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

/** Fields of an event that describe the answer and are not part of it. */
const aboutTheAnswer: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'system_fingerprint',
  'service_tier',
  'provider',
  'usage',
  'prompt_filter_results',
])

function saysSomething(chunk: JsonObject): boolean {
  const { choices } = chunk
  if (!Array.isArray(choices))
    return Object.keys(chunk).some((name) => !aboutTheAnswer.has(name) && isThere(chunk[name]))
  return (choices as unknown[]).some((choice) => {
    const delta = isObject(choice) ? choice['delta'] : undefined
    return isObject(delta) && Object.keys(delta).some((name) => name !== 'role' && isThere(delta[name]))
  })
}

function isThere(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== null && value !== undefined && value !== ''
}
