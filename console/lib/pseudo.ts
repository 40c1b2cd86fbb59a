const accents: Readonly<Record<string, string>> = {
  a: 'á',
  c: 'ç',
  e: 'é',
  i: 'í',
  n: 'ñ',
  o: 'ö',
  s: 'š',
  u: 'ü',
  y: 'ý',
  A: 'Å',
  C: 'Ç',
  E: 'É',
  I: 'Î',
  N: 'Ñ',
  O: 'Ø',
  S: 'Š',
  U: 'Ü',
}

const accented = (part: string) => part.replaceAll(/[a-z]/gi, (letter) => accents[letter] ?? letter)

type Token = string | readonly unknown[]

/**
 * Adds accents to the texts between placeholders, including the texts inside plurals. Placeholders and plurals
 * themselves stay unchanged.
 */
function stretch(tokens: readonly Token[]): unknown[] {
  return tokens.map((token) => {
    if (typeof token === 'string') return accented(token)
    const [name, format, forms] = token
    if (typeof forms !== 'object' || forms === null) return token
    const changed = Object.entries(forms).map(([form, inner]) => [form, Array.isArray(inner) ? stretch(inner) : inner])
    return [name, format, Object.fromEntries(changed)]
  })
}

function filler(message: readonly Token[]): string {
  const length = message.reduce((sum, token) => sum + (typeof token === 'string' ? token.length : 8), 0)
  const more = Math.ceil(length * 0.4)
  // The filler consists of separate words, so that long messages can wrap.
  return Array.from({ length: Math.ceil(more / 6) }, (_, index) => '~'.repeat(Math.min(6, more - index * 6))).join(' ')
}

/** Makes compiled messages 40 % longer and adds accents, so that untranslated or truncated text is easy to see. */
export function pseudo<T extends Record<string, unknown>>(catalogue: T): T {
  const entries = Object.entries(catalogue).map(([key, message]) => {
    const tokens = (Array.isArray(message) ? message : [message]) as readonly Token[]
    return [key, ['⟦', ...stretch(tokens), ` ${filler(tokens)}⟧`]]
  })
  return Object.fromEntries(entries) as T
}
