/** Splits a comma-separated text into its parts. The parts are trimmed, and empty parts and duplicates are removed. */
export function splitList(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}
