import { withoutKey } from '../lib/secrets/without-key.ts'
import type { Turns } from '../lib/turns.ts'

/** The texts that must not be in a recording. */
export interface Unwanted {
  /** Texts in which `*` matches any characters of a word, and names of kinds of personal data, such as `@email`. */
  redactions: readonly string[]
  /** Secrets that the call used: the caller's token and the keys of channels. */
  keys: readonly string[]
}

const mark = '[redacted]'

/** A long text is searched in parts of about this length, so that other work can run between the parts. */
const partLength = 16 * 1024

/** Patterns for texts that look like keys. They match keys of other services, too. */
const keyForms = [/\bsk-[\w-]{16,}/g, /\bAIza[\w-]{30,}/g, /\b[Bb]earer\s{1,4}[\w.~+/-]{16,}/g]

/**
 * Functions that replace one kind of personal data each. No pattern repeats a group that can match the same text in two
 * ways, so the time is linear in the length of the text.
 */
const kinds: Readonly<Record<string, (text: string) => string>> = {
  '@email': (text) => text.replace(/[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g, mark),
  '@card': (text) => text.replace(/\b\d(?:[ -]?\d){12,18}\b/g, (found) => (isCard(found) ? mark : found)),
  // A plain sequence of digits does not match, because it is more often a time or an id than a phone number.
  '@phone': (text) => text.replace(/\+\d[\d ().-]{6,18}\d|\(?\b\d{2,4}\)?[ .-]\d{3,4}[ .-]\d{3,4}\b/g, mark),
  '@ip': (text) =>
    text.replace(/\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[\da-fA-F]{1,4}:(?:[\da-fA-F]{0,4}:){2,6}[\da-fA-F]{0,4}/g, mark),
}

/** Returns the text with all keys and unwanted texts replaced. */
export async function redacted(text: string, unwanted: Unwanted, turns: Turns): Promise<string> {
  const plain = unwanted.redactions.length > 0 ? withoutEscapes(text) : text
  let clean = ''
  for (let from = 0; from < plain.length; ) {
    const to = partEnd(plain, from)
    clean += redactedPart(plain.slice(from, to), unwanted)
    from = to
    if (from < plain.length) await turns.next()
  }
  return clean
}

/**
 * The end of the part that begins at `from`. If possible, a part ends after a space or quote, because keys do not
 * contain these.
 */
function partEnd(text: string, from: number): number {
  const limit = from + partLength
  if (limit >= text.length) return text.length
  for (let at = limit; at > from; at--) {
    const code = text.charCodeAt(at - 1)
    if (code === 0x22 || code === 0x20 || code === 0x0a) return at
  }
  return limit
}

function redactedPart(text: string, { redactions, keys }: Unwanted): string {
  let clean = text
  for (const key of keys) clean = withoutKey(clean, key)
  for (const form of keyForms) clean = clean.replace(form, '[key]')
  for (const each of redactions) clean = kinds[each]?.(clean) ?? withoutWord(clean, each)
  return clean
}

/**
 * Replaces JSON escapes (RFC 8259, section 7) by the characters themselves, so that a text is found no matter how it
 * was written. Escapes of quotes, backslashes, control characters and lone surrogates stay unchanged.
 */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:u([\da-fA-F]{4})|[\s\S])/g, (found, digits: string | undefined) => {
    const code = digits === undefined ? 0 : Number.parseInt(digits, 16)
    const isPlain = code >= 0x20 && code !== 0x22 && code !== 0x5c && (code < 0xd800 || code > 0xdfff)
    return isPlain ? String.fromCharCode(code) : found
  })
}

/** Characters at which `*` stops. */
const delimiter = /[\s"'<>\\,;(){}[\]]/

/**
 * Replaces each occurrence of a pattern in which `*` matches any characters of one word. A piece is the text between
 * two `*`. Each piece is matched as far left as possible, because this leaves the most room for the next pieces. As a
 * result, no position has to be tried twice, and each word is read a bounded number of times.
 */
function withoutWord(text: string, pattern: string): string {
  const pieces = pattern.toLowerCase().split('*')
  const inner = pieces.filter((piece) => piece !== '')
  const [first] = inner
  if (first === undefined) return text
  const lower = text.toLowerCase()
  // A few characters have a different length in lower case, so positions in the lower-case text would differ from those
  // in the text. If the text contains such characters, the search is case-sensitive.
  const searched = lower.length === text.length ? lower : text
  let clean = ''
  let copiedTo = 0
  let wordEnd = 0
  for (let at = searched.indexOf(first); at >= 0; ) {
    const behind = at + first.length
    if (pieces.length === 1) wordEnd = behind
    else if (wordEnd < behind) wordEnd = endOfWord(searched, behind)
    const end = endOfMatch(searched.slice(at, wordEnd), inner)
    if (end === undefined) {
      at = searched.indexOf(first, Math.max(wordEnd, at + 1))
      continue
    }
    const from = pieces[0] === '' ? startOfWord(searched, at, copiedTo) : at
    const to = pieces.at(-1) === '' ? wordEnd : at + end
    clean += text.slice(copiedTo, from) + mark
    copiedTo = to
    at = searched.indexOf(first, to)
  }
  return copiedTo === 0 ? text : clean + text.slice(copiedTo)
}

/**
 * Looks for the pieces in `word` in this order, and returns the position after the last one. `word` begins with the
 * first piece. Returns undefined if a piece is missing.
 */
function endOfMatch(word: string, pieces: readonly string[]): number | undefined {
  let end = 0
  for (const piece of pieces) {
    const at = word.indexOf(piece, end)
    if (at < 0) return undefined
    end = at + piece.length
  }
  return end
}

function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !delimiter.test(text.charAt(at))) at++
  return at
}

function startOfWord(text: string, from: number, least: number): number {
  let at = from
  while (at > least && !delimiter.test(text.charAt(at - 1))) at--
  return at
}

/** Verifies the check digit of card numbers (ISO/IEC 7812-1, annex B). */
function isCard(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number)
  const sum = digits.reduce((total, digit, index) => {
    const value = index % 2 === 1 ? digit * 2 : digit
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
