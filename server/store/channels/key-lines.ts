/** The keys in a text with one key per line: trimmed, without empty lines. */
export function keyLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The keys in the key text of a channel. */
export function keysIn(text: string, mode: 'single' | 'multi'): string[] {
  return mode === 'multi' ? keyLines(text) : [text]
}
