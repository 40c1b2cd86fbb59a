import type { JsonObject } from '../../lib/json.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'
import { QuoteSearch } from '../wire/quote-search.ts'

/**
 * Citations of a candidate: its grounding sources and the texts it recites (Gemini API, "GroundingMetadata",
 * "CitationMetadata"). Google counts offsets in UTF-8 bytes.
 */
export function citationsIn(candidate: JsonObject, text: string): Citation[] {
  const grounding = looseObject(candidate['groundingMetadata'])
  const chunks = looseList(grounding['groundingChunks']).map(chunkIn)
  const counted = new ByteCounted(text)
  const supported = looseList(grounding['groundingSupports']).flatMap((support) => {
    const indices = Array.isArray(support['groundingChunkIndices'])
      ? (support['groundingChunkIndices'] as unknown[])
      : []
    const supporting = indices.flatMap((index) => {
      const chunk = chunks[looseCount(index)]
      return chunk?.url ? [chunk] : []
    })
    if (supporting.length === 0) return []
    const span = spanIn(looseObject(support['segment']), counted)
    return supporting.map((chunk) => ({ ...chunk, ...span }))
  })
  const recited = looseList(looseObject(candidate['citationMetadata'])['citations']).flatMap((each) => {
    const url = looseText(each['uri'])
    const title = looseText(each['title'])
    return url ? [{ url, ...(title && { title }), ...spanIn(each, counted) }] : []
  })
  return [...supported, ...recited]
}

function chunkIn(chunk: JsonObject): Citation {
  const source = looseObject(chunk['web'] ?? chunk['retrievedContext'] ?? chunk['maps'])
  const url = looseText(source['uri'])
  const title = looseText(source['title'])
  return { ...(url && { url }), ...(title && { title }) }
}

function spanIn(segment: JsonObject, counted: ByteCounted): { start: number; end: number } {
  const { text } = counted
  const start = counted.unitAt(looseCount(segment['startIndex']))
  const span = { start, end: counted.unitAt(looseCount(segment['endIndex'])) }
  // If Google's offsets do not match the text that it sent, the text is searched for the quote.
  const quote = looseText(segment['text'])
  if (quote === '' || text.slice(span.start, span.end) === quote) return span
  const quoteAt = counted.quotes.find(quote)
  return quoteAt < 0 ? span : { start: quoteAt, end: quoteAt + quote.length }
}

/** Converts a citation of the whole text to a citation of the part that begins at `start` in that text. */
export function withinPart(citation: Citation, start: number, length: number): Citation {
  const within = (offset: number) => Math.min(length, Math.max(0, offset - start))
  return { ...citation, start: within(citation.start ?? 0), end: within(citation.end ?? 0) }
}

/** Citations of an answer's text as `groundingMetadata`; undefined if none has a URL. */
export function groundingOut(citations: readonly Citation[], text: string): JsonObject | undefined {
  const cited = citations.filter(({ url }) => url)
  if (cited.length === 0) return undefined
  const counted = new ByteCounted(text)
  const chunks = new Map<string | undefined, { at: number; title: string | undefined }>()
  for (const { url, title } of cited) if (!chunks.has(url)) chunks.set(url, { at: chunks.size, title })
  return {
    groundingChunks: [...chunks].map(([uri, { title }]) => ({ web: { uri, ...(title && { title }) } })),
    groundingSupports: cited.map(({ url, start = 0, end = text.length }) => ({
      segment: {
        startIndex: counted.byteAt(start),
        endIndex: counted.byteAt(end),
        text: text.slice(start, end),
      },
      groundingChunkIndices: [chunks.get(url)?.at],
    })),
  }
}

/**
 * A text whose offsets are converted between UTF-8 bytes and UTF-16 code units. It is scanned once, however many
 * offsets are converted.
 */
class ByteCounted {
  readonly text: string
  readonly quotes: QuoteSearch
  #starts: Uint32Array | undefined

  constructor(text: string) {
    this.text = text
    this.quotes = new QuoteSearch(text)
  }

  /** The index of the byte at which a code unit begins. Negative and fractional numbers are treated as in `slice`. */
  byteAt(unit: number): number {
    const whole = Math.trunc(unit)
    const { length } = this.text
    const at = whole < 0 ? Math.max(0, length + whole) : Math.min(length, whole)
    return at === 0 ? 0 : (this.#table()[at] ?? 0)
  }

  /** The index of the code unit that begins at a byte. For a byte within a character, this is the next code unit. */
  unitAt(byte: number): number {
    if (byte === 0) return 0
    const starts = this.#table()
    let low = 0
    let high = this.text.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) >= byte) high = middle
      else low = middle + 1
    }
    return low
  }

  /**
   * For each code unit, the index of the byte at which it begins. A surrogate pair is four bytes in UTF-8. Its second
   * unit is assigned to the last of them, as if the first unit were a character of three bytes.
   */
  #table(): Uint32Array {
    if (this.#starts) return this.#starts
    const { text } = this
    const starts = new Uint32Array(text.length + 1)
    let byte = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.codePointAt(at) ?? 0
      starts[at] = byte
      if (code > 0xffff) {
        starts[++at] = byte + 3
        byte += 4
      } else byte += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
    }
    starts[text.length] = byte
    this.#starts = starts
    return starts
  }
}
