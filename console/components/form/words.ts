/**
 * A list with the words of a text appended; words are separated by lines or commas. Empty and duplicate ones are
 * skipped.
 */
export function withWords(list: readonly string[], text: string): string[] {
  const words = text.split(/[,\n]/).map((word) => word.trim())
  return [...new Set([...list, ...words.filter((word) => word !== '')])]
}
