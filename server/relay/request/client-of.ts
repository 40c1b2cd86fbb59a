import { oncePerText } from '../../lib/once-per-text.ts'

/** The number of characters of a User-Agent header that are read. */
const longestRead = 300
const longestName = 30
const longestVersion = 24
/**
 * The maximum length of a version that follows a name and a language. It keeps the three together within 60 characters.
 */
const longestSecond = 16

/** Names that browsers, and apps with a built-in browser, send in addition to their own. */
const sharedNames: ReadonlySet<string> = new Set(['Mozilla', 'AppleWebKit', 'Gecko', 'Mobile', 'Version'])
const engineNames: ReadonlySet<string> = new Set(['Chrome', 'Electron', 'Safari'])

/** A letter, followed by letters, digits and a few punctuation marks. */
const namePattern = /^[A-Za-z][\w.-]*$/
const versionPattern = /^v?\d[\w.+-]*$/
/** Some libraries name their language in place of the version: `OpenAI/Python 1.58.1`. */
const languagePattern = /^[A-Za-z]{1,12}$/

/**
 * Product and version from a User-Agent header (RFC 9110, 10.1.5), such as `codex_cli_rs/0.42.0`. The result has at
 * most 60 characters, which are letters, digits and `_./+- `. Undefined if the header names no product, or if the name
 * could be a key.
 */
export function clientOf(userAgent: string | null): string | undefined {
  if (!userAgent) return undefined
  return userAgent.length > longestRead ? clientIn(userAgent.slice(0, longestRead)) : clientOfShort(userAgent)
}

function clientIn(start: string): string | undefined {
  const words = start.split(' ', 40)
  const [first = '', second = ''] = words
  if (first.startsWith('Mozilla/')) return browserIn(words)
  const [name = '', detail = ''] = first.split('/', 2)
  if (!isName(name)) return undefined
  if (isVersion(detail)) return `${name}/${detail}`
  if (!languagePattern.test(detail)) return name
  return isVersion(second, longestSecond) ? `${name}/${detail} ${second}` : `${name}/${detail}`
}

/** Computed once for each header, because most calls come from a few clients. */
const clientOfShort = oncePerText(clientIn)

/**
 * The app in the User-Agent of a browser: the first product whose name is not one of the shared names. If there is
 * none, the browser engine.
 */
function browserIn(words: readonly string[]): string {
  let engine: string | undefined
  for (const word of words) {
    const [name = '', version = ''] = word.split('/', 2)
    if (sharedNames.has(name) || !isName(name) || !isVersion(version)) continue
    if (!engineNames.has(name)) return `${name}/${version}`
    engine ??= `${name}/${version}`
  }
  return engine ?? 'Mozilla'
}

/** Long names with digits are refused, because a key may be sent in place of a name. */
function isName(text: string): boolean {
  if (text.length > longestName || !namePattern.test(text) || /^(?:sk|key|pk|rk)[-_]/i.test(text)) return false
  return text.length <= 20 || !/\d/.test(text)
}

function isVersion(text: string, longest = longestVersion): boolean {
  return text.length <= longest && versionPattern.test(text)
}
