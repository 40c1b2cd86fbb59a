/** Search units, by which Cohere prices ranking, and Amazon after it: one is a query with up to a hundred documents. */

const chunksPerUnit = 100
/** A document is cut into chunks of so many tokens, each of which counts as one (Cohere, "Pricing"; AWS has 512). */
const chunkTokens = 500

/** Search units of a call for ranking. */
export function searchUnits(query: string, documents: readonly string[], tokensOf: (text: string) => number): number {
  // The query stands in each chunk; services cut a long one short.
  const room = Math.max(chunkTokens - tokensOf(query), chunkTokens / 2)
  const chunks = documents.reduce((sum, document) => sum + Math.max(1, Math.ceil(tokensOf(document) / room)), 0)
  return Math.max(1, Math.ceil(chunks / chunksPerUnit))
}
