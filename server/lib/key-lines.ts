/** One key a line: trimmed, without empty lines. */
export function keyLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
