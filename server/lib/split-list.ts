/** Comma-separated text → its parts, trimmed, without empty ones and duplicates. */
export function splitList(text: string): string[] {
  return [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
}
