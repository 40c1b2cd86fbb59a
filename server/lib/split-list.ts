/** Splits a comma-separated text into its parts, trimmed, without empty parts and duplicates. */
export function splitList(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}
