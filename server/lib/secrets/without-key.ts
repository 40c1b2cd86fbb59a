/** Shorter parts of a key are words that a message may hold by chance. */
const shortestSecret = 8
/** Of longer ones a piece of so many characters is known as a piece of the key. */
const pieceLength = 12
const shortestOfPieces = 20
const mostKeys = 1_000

/** How a key is found in texts. */
interface Traces {
  /** The key and its parts, in any spelling that JSON allows. */
  whole: readonly RegExp[]
  /** Pieces of it, as it is, in base64 and in an address. */
  pieces: ReadonlySet<string>
}

const known = new Map<string, Traces>()

/**
 * A text of the upstream without the channel's key, which some services repeat in their error messages, whole, cut off or
 * encoded; in JSON that is not parsed yet it may be escaped.
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
  let kept = 0
  for (let at = 0; at + pieceLength <= text.length; ) {
    let end = at
    while (pieces.has(text.slice(end, end + pieceLength))) end++
    if (end === at) {
      at++
      continue
    }
    clean += `${text.slice(kept, at)}[key]`
    kept = at = end + pieceLength - 1
  }
  return kept === 0 ? text : clean + text.slice(kept)
}

function tracesOf(key: string): Traces {
  const found = known.get(key)
  if (found) return found
  const parts = [key, ...key.split(/[|\r\n]+/)].filter((part) => part.length >= shortestSecret)
  // A file with an account is mostly words that every such file has; its lines are looked for as they are.
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

/** What of base64 depends on the text alone, wherever in something longer it stands. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '')
    const own = encoded.slice(before === 0 ? 0 : 4, -2)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A text as it is, or with any of its characters escaped as JSON may (RFC 8259, section 7). */
function inAnySpelling(text: string): RegExp {
  const spellings = Array.from({ length: text.length }, (_, index) => {
    const code = text.charCodeAt(index).toString(16).padStart(4, '0')
    return `(?:\\\\?\\u${code}|\\\\u${hexDigits(code)})`
  })
  return new RegExp(spellings.join(''), 'g')
}

/** Hexadecimal digits in either case. */
function hexDigits(code: string): string {
  return code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
