import type { JsonObject } from '../../lib/json.ts'
import type { Citation } from '../conversation.ts'
import { looseCount, looseList, looseObject, looseText } from '../fields.ts'

/**
 * Citations of a candidate: what it was grounded on, and what it recites (Gemini API, "GroundingMetadata",
 * "CitationMetadata"). Google counts in bytes of UTF-8.
 */
export function citationsIn(candidate: JsonObject, text: string): Citation[] {
  const grounding = looseObject(candidate['groundingMetadata'])
  const chunks = looseList(grounding['groundingChunks']).map(chunkIn)
  const supported = looseList(grounding['groundingSupports']).flatMap((support) => {
    const span = spanIn(looseObject(support['segment']), text)
    const indices = Array.isArray(support['groundingChunkIndices'])
      ? (support['groundingChunkIndices'] as unknown[])
      : []
    return indices.flatMap((index) => {
      const chunk = chunks[looseCount(index)]
      return chunk?.url ? [{ ...chunk, ...span }] : []
    })
  })
  const recited = looseList(looseObject(candidate['citationMetadata'])['citations']).flatMap((each) => {
    const url = looseText(each['uri'])
    const title = looseText(each['title'])
    return url ? [{ url, ...(title && { title }), ...spanIn(each, text) }] : []
  })
  return [...supported, ...recited]
}

function chunkIn(chunk: JsonObject): Citation {
  const source = looseObject(chunk['web'] ?? chunk['retrievedContext'] ?? chunk['maps'])
  const url = looseText(source['uri'])
  const title = looseText(source['title'])
  return { ...(url && { url }), ...(title && { title }) }
}

function spanIn(segment: JsonObject, text: string): { start: number; end: number } {
  const bytes = Buffer.from(text)
  const at = (offset: number) => bytes.subarray(0, offset).toString('utf8').length
  const span = { start: at(looseCount(segment['startIndex'])), end: at(looseCount(segment['endIndex'])) }
  // Where Google counted in another text than the one it sent, what it quotes of it is found again.
  const quote = looseText(segment['text'])
  if (quote === '' || text.slice(span.start, span.end) === quote) return span
  const found = text.indexOf(quote)
  return found < 0 ? span : { start: found, end: found + quote.length }
}

/** A citation of the whole text as one of the part that begins at `start` in it. */
export function withinPart(citation: Citation, start: number, length: number): Citation {
  const within = (place: number) => Math.min(length, Math.max(0, place - start))
  return { ...citation, start: within(citation.start ?? 0), end: within(citation.end ?? 0) }
}

/** Citations of an answer's text as `groundingMetadata`; undefined where none names an address. */
export function groundingOut(citations: readonly Citation[], text: string): JsonObject | undefined {
  const cited = citations.filter(({ url }) => url)
  if (cited.length === 0) return undefined
  const urls = [...new Set(cited.map(({ url }) => url))]
  const bytes = (end: number) => Buffer.byteLength(text.slice(0, end))
  return {
    groundingChunks: urls.map((uri) => {
      const title = cited.find(({ url }) => url === uri)?.title
      return { web: { uri, ...(title && { title }) } }
    }),
    groundingSupports: cited.map(({ url, start = 0, end = text.length }) => ({
      segment: { startIndex: bytes(start), endIndex: bytes(end), text: text.slice(start, end) },
      groundingChunkIndices: [urls.indexOf(url)],
    })),
  }
}
