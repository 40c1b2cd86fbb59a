/**
 * Search units, by which Cohere prices ranking, and Amazon after it: one unit is a query with up to a hundred
 * documents.
 */

const chunksPerUnit = 100
/**
 * A document is split into chunks of this many tokens, each of which counts as one document (Cohere, "Pricing"; AWS has
 * 512).
 */
const chunkTokens = 500
/**
 * No more than this is read of a longer document, unless the call says otherwise (Cohere, "Rerank":
 * max_tokens_per_doc).
 */
export const usualDocumentTokens = 4096

/** Search units of a ranking call. */
export function searchUnits(
  query: string,
  documents: readonly string[],
  tokensOf: (text: string) => number,
  documentTokens = usualDocumentTokens,
): number {
  // The query is part of each chunk; services truncate a long one.
  const room = Math.max(chunkTokens - tokensOf(query), chunkTokens / 2)
  const chunksOf = (text: string) => Math.max(1, Math.ceil(Math.min(tokensOf(text), documentTokens) / room))
  const chunks = documents.reduce((sum, document) => sum + chunksOf(document), 0)
  return Math.max(1, Math.ceil(chunks / chunksPerUnit))
}
