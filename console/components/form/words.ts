/**
 * Appends the words of a text to a list. Words are separated by line breaks or commas. Empty and duplicate words are
 * skipped.
 */
export function withWords(list: readonly string[], text: string): string[] {
  const words = text.split(/[,\n]/).map((word) => word.trim())
  return [...new Set([...list, ...words.filter((word) => word !== '')])]
}
