/**
 * The minimum length of a key, or of a part of a key, that is removed from a text. A shorter part may be a word that
 * the text contains by chance.
 */
const shortestSecret = 8
/**
 * In a text, this many consecutive characters of a key are recognized as a piece of it. Only keys, or parts of keys, of
 * at least `shortestOfPieces` characters are searched for in this way.
 */
const pieceLength = 12
const shortestOfPieces = 20
const mostKeys = 1_000

/** Patterns that find a key in texts. */
interface Traces {
  /** Patterns for the key and its parts, with and without JSON escapes. */
  whole: readonly RegExp[]
  /** All pieces of the key of `pieceLength` characters: unencoded, in base64 and URL-encoded. */
  pieces: ReadonlySet<string>
}

const known = new Map<string, Traces>()

/**
 * An upstream's text with the channel's key removed. Some services repeat the key in their error messages, either
 * complete or truncated, and sometimes encoded. In JSON that has not been parsed yet, the key may be escaped.
 */
export function withoutKey(text: string, key: string): string {
  if (key.length < shortestSecret || text.length < shortestSecret) return text
  const { whole, pieces } = tracesOf(key)
  let clean = text
  for (const each of whole) clean = clean.replace(each, '[key]')
  return withoutPieces(clean, pieces)
}

function withoutPieces(text: string, pieces: ReadonlySet<string>): string {
  if (pieces.size === 0) return text
  let clean = ''
  let copiedTo = 0
  for (let at = 0; at + pieceLength <= text.length; ) {
    let end = at
    while (pieces.has(text.slice(end, end + pieceLength))) end++
    if (end === at) {
      at++
      continue
    }
    clean += `${text.slice(copiedTo, at)}[key]`
    copiedTo = at = end + pieceLength - 1
  }
  return copiedTo === 0 ? text : clean + text.slice(copiedTo)
}

function tracesOf(key: string): Traces {
  const cachedTraces = known.get(key)
  if (cachedTraces) return cachedTraces
  const parts = [key, ...key.split(/[|\r\n]+/)].filter((part) => part.length >= shortestSecret)
  // A key may be an account file in JSON, which consists mostly of words that every such file contains. Of such a key,
  // only whole lines are searched for.
  const long = key.includes('{') ? [] : parts.filter((part) => part.length >= shortestOfPieces)
  const forms = long.flatMap((part) => [part, encodeURIComponent(part), ...inBase64(part)])
  const traces = { whole: [...new Set(parts)].map(inAnySpelling), pieces: new Set(forms.flatMap(piecesOf)) }
  if (known.size >= mostKeys) known.clear()
  known.set(key, traces)
  return traces
}

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - pieceLength + 1) }, (_, at) => text.slice(at, at + pieceLength))
}

/**
 * The base64 forms of a text within a longer text, for each of the three possible alignments. Only the characters that
 * do not depend on the surrounding text are included.
 */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '')
    const own = encoded.slice(before === 0 ? 0 : 4, -2)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** Matches a text even if some of its characters are escaped as in JSON (RFC 8259, section 7). */
function inAnySpelling(text: string): RegExp {
  const spellings = Array.from({ length: text.length }, (_, index) => {
    const code = text.charCodeAt(index).toString(16).padStart(4, '0')
    return `(?:\\\\?\\u${code}|\\\\u${hexDigits(code)})`
  })
  return new RegExp(spellings.join(''), 'g')
}

/** Matches hexadecimal digits in either case. */
function hexDigits(code: string): string {
  return code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
