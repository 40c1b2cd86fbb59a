/**
 * Search units are the units in which Cohere and Amazon price reranking. One unit is a query with up to a hundred
 * documents.
 */

const chunksPerUnit = 100
/**
 * A document is split into chunks of this many tokens, and each chunk counts as one document (Cohere, "Pricing"; AWS
 * uses 512).
 */
const chunkTokens = 500
/**
 * Longer documents are truncated to this many tokens, unless the request sets another limit (Cohere, "Rerank":
 * max_tokens_per_doc).
 */
export const usualDocumentTokens = 4096

/** The number of search units of a rerank call. */
export function searchUnits(
  query: string,
  documents: readonly string[],
  tokensOf: (text: string) => number,
  documentTokens = usualDocumentTokens,
): number {
  // The query is part of each chunk. Services truncate a long query.
  const room = Math.max(chunkTokens - tokensOf(query), chunkTokens / 2)
  const chunksOf = (text: string) => Math.max(1, Math.ceil(Math.min(tokensOf(text), documentTokens) / room))
  const chunks = documents.reduce((sum, document) => sum + chunksOf(document), 0)
  return Math.max(1, Math.ceil(chunks / chunksPerUnit))
}
