import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { Reply, ReplyPart, Stop, StopReason } from '../neutral/reply.ts'
import { QuoteSearch } from '../wire/quote-search.ts'

/** A Cohere Chat response (API reference, "Chat", version 2). A response without a message has no choices. */
export function decodeReply(wire: JsonObject): Reply {
  const message = looseObject(wire['message'])
  const usage = usageIn(wire['usage'])
  const id = looseText(wire['id'])
  const plan = looseText(message['tool_plan'])
  const cited = looseList(message['citations'])
  const blocks = looseList(message['content']).map(contentIn)
  const owned = citationsOf(blocks, cited)
  const content = blocks.flatMap((part, index): ReplyPart[] => {
    if (!part) return []
    const citations = owned.get(index)
    return [citations && part.type === 'text' ? { ...part, citations } : part]
  })
  const calls = looseList(message['tool_calls']).map((call): ReplyPart => {
    const called = looseObject(call['function'])
    const input = looseText(called['arguments']) || '{}'
    return { type: 'tool-call', id: looseText(call['id']), name: looseText(called['name']), input }
  })
  const thought: ReplyPart[] = plan === '' ? [] : [{ type: 'reasoning', text: plan }]
  return {
    ...(id && { id }),
    choices: isObject(wire['message'])
      ? [{ parts: [...thought, ...content, ...calls], stop: stopIn(wire['finish_reason']) }]
      : [],
    ...(usage && { usage }),
  }
}

/**
 * The citations of each text block. A citation that names no block belongs to the first block that contains the cited
 * text.
 */
function citationsOf(
  blocks: readonly ReturnType<typeof contentIn>[],
  cited: readonly JsonObject[],
): Map<number, Citation[]> {
  const texts = new Map<number, CountedText>()
  for (const [index, block] of blocks.entries())
    if (block?.type === 'text') texts.set(index, new CountedText(block.text))
  const first = texts.keys().next().value
  let looks = 0
  const fitting = (citation: JsonObject) => {
    if (texts.size > 1)
      for (const [index, text] of looks < mostLooks ? texts : []) {
        looks++
        if (text.startOf(citation) !== undefined) return index
      }
    return first
  }
  const out = new Map<number, Citation[]>()
  for (const citation of cited) {
    const named = citation['content_index']
    const index = named === undefined ? fitting(citation) : looseCount(named)
    const text = index === undefined ? undefined : texts.get(index)
    if (index === undefined || !text) continue
    const citations = out.get(index)
    if (citations) citations.push(citationAt(citation, text))
    else out.set(index, [citationAt(citation, text)])
  }
  return out
}

/** One piece of an answer's content; undefined if it is neither text nor reasoning. */
export function contentIn(block: JsonObject): Extract<ReplyPart, { type: 'text' | 'reasoning' }> | undefined {
  if (block['type'] === 'thinking' || typeof block['thinking'] === 'string')
    return { type: 'reasoning', text: looseText(block['thinking']) }
  return typeof block['text'] === 'string' ? { type: 'text', text: block['text'] } : undefined
}

/** One citation of a text. */
export function citationIn(citation: JsonObject, text: string): Citation {
  return citationAt(citation, new CountedText(text))
}

function citationAt(citation: JsonObject, text: CountedText): Citation {
  const [source] = looseList(citation['sources'])
  const document = looseObject(source?.['document'])
  const url = looseText(document['url']) || looseText(document['uri'])
  const title = looseText(document['title'])
  const quote = looseText(document['text']) || looseText(document['snippet'])
  return {
    ...(url && { url }),
    ...(title && { title }),
    ...(quote && { quote }),
    ...text.spanOf(citation),
  }
}

/** The maximum number of searches in blocks for citations that name no block. No real answer needs more. */
const mostLooks = 2 ** 20

/**
 * A text with citations. Cohere counts in code points, which differ from UTF-16 code units outside the Basic
 * Multilingual Plane. The text is scanned once for the conversion, however many citations there are.
 */
class CountedText {
  readonly #text: string
  readonly #quotes: QuoteSearch
  #starts: Uint32Array | undefined
  #characters = 0

  constructor(text: string) {
    this.#text = text
    this.#quotes = new QuoteSearch(text)
  }

  spanOf(citation: JsonObject): { start: number; end: number } {
    const start = looseCount(citation['start'])
    const end = looseCount(citation['end'])
    const cited = looseText(citation['text'])
    if (cited === '' || this.#text.slice(start, end) === cited) return { start, end }
    const quoteAt = this.startOf(citation) ?? this.#quotes.find(cited)
    if (quoteAt < 0) return { start, end }
    return { start: quoteAt, end: quoteAt + cited.length }
  }

  /** The index of the code unit at which the cited text starts; undefined if the text does not match the citation. */
  startOf(citation: JsonObject): number | undefined {
    const start = looseCount(citation['start'])
    const end = looseCount(citation['end'])
    const cited = looseText(citation['text'])
    if (cited === '') return undefined
    if (this.#text.slice(start, end) === cited) return start
    const unit = this.#unitAt(start)
    return this.#text.slice(unit, this.#unitAt(end)) === cited ? unit : undefined
  }

  #unitAt(character: number): number {
    this.#starts ??= this.#table()
    return character < this.#characters ? (this.#starts[character] ?? 0) : this.#text.length
  }

  /** For each code point, the index of its first code unit. */
  #table(): Uint32Array {
    const starts = new Uint32Array(this.#text.length)
    for (let at = 0; at < this.#text.length; at++) {
      starts[this.#characters++] = at
      if ((this.#text.codePointAt(at) ?? 0) > 0xffff) at++
    }
    return starts
  }
}

const reasons: Readonly<Record<string, StopReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop-sequence',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR_TOXIC: 'content-filter',
  ERROR_LIMIT: 'context-window',
}

/** `finish_reason` → Stop. */
export function stopIn(reason: unknown): Stop {
  return { reason: reasons[looseText(reason)] ?? 'other' }
}

/**
 * `usage` → Usage. The counts come from `tokens`, or from `billed_units` if `tokens` is not reported. Image tokens are
 * added to the prompt. Undefined if neither field is reported.
 */
export function usageIn(raw: unknown): Usage | undefined {
  const usage = looseObject(raw)
  const used = looseObject(usage['tokens'])
  const counts = typeof used['input_tokens'] === 'number' ? used : looseObject(usage['billed_units'])
  const { input_tokens: input, output_tokens: output = 0 } = counts
  if (!isCount(input) || !isCount(output)) return undefined
  const images = looseCount(counts['image_tokens'])
  const cachedTokens = looseCount(usage['cached_tokens'])
  const reasoningTokens = looseCount(counts['reasoning_tokens'])
  return {
    promptTokens: input + images,
    completionTokens: output + (reasoningTokens > output ? reasoningTokens : 0),
    ...(cachedTokens > 0 && cachedTokens <= input && { cachedTokens }),
    ...(images > 0 && { imagePromptTokens: images }),
    ...(reasoningTokens > 0 && { reasoningTokens }),
    ...(reasoningTokens > output && {
      doubt: `${reasoningTokens} reasoning tokens of an output of ${output}: added to it`,
    }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
