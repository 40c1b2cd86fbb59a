import type { Command } from '../lib/commands.ts'

/** The minimum length of a typed text that matches scattered letters. Shorter texts would match nearly everything. */
const leastLoose = 3

/**
 * How well a text matches the typed text; 0 = not at all. Whole words score higher than parts of words. A text that
 * merely contains the letters in this order (`nwtok` for "New token") scores lowest.
 */
export function score(text: string, typed: string): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = text.toLowerCase()
  if (words.length === 0) return 1
  if (lower.startsWith(words.join(' '))) return 4
  if (words.every((word) => startsWord(lower, word))) return 3
  if (words.every((word) => lower.includes(word))) return 2
  return isSpread(lower, words.join('')) ? 1 : 0
}

function startsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true
  return false
}

/** Whether the letters occur in this order, starting at the beginning of a word and not too far apart. */
function isSpread(text: string, letters: string): boolean {
  if (letters.length < leastLoose) return false
  for (let start = 0; start < text.length; start++) {
    if (text[start] !== letters[0] || (start > 0 && /[\p{L}\p{N}]/u.test(text[start - 1] ?? ''))) continue
    let at = start
    for (let next = 1; next < letters.length && at >= 0; next++) at = text.indexOf(letters[next] ?? '', at + 1)
    if (at >= 0 && at - start < letters.length * 3) return true
  }
  return false
}

/** The matching commands, best first. Commands that match equally well keep their order. */
export function matching(commands: readonly Command[], typed: string): Command[] {
  if (typed.trim() === '') return [...commands]
  return commands
    .map((command) => ({
      command,
      score: Math.max(score(command.label, typed), score(command.words ?? '', typed) && 1.5),
    }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((each) => each.command)
}
