/** A list with the words of a text, which stand one a line or between commas, at its end; empty and known ones are left out. */
export function withWords(list: readonly string[], text: string): string[] {
  const words = text.split(/[,\n]/).map((word) => word.trim())
  return [...new Set([...list, ...words.filter((word) => word !== '')])]
}
