/** Where a member of the top-level object stands in the text. */
interface Member {
  key: string
  /** Offset of the key's opening quote, and of the end of the value. */
  start: number
  valueStart: number
  end: number
}

/**
 * Members of the top-level object of a valid JSON text. Only the top level is looked at; nested values are skipped by
 * their brackets and quotes, strings by searching for their closing quote.
 */
function* members(text: string): Generator<Member> {
  let at = text.indexOf('{') + 1
  for (;;) {
    at = skipSpace(text, at)
    if (text[at] !== '"') return
    const start = at
    const keyEnd = endOfString(text, at)
    const key = JSON.parse(text.slice(start, keyEnd)) as string
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOfValue(text, valueStart)
    yield { key, start, valueStart, end }
    at = skipSpace(text, end)
    if (text[at] !== ',') return
    at++
  }
}

function skipSpace(text: string, at: number): number {
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break
    at++
  }
  return at
}

function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return quote + 1
  }
  return text.length
}

function endOfValue(text: string, at: number): number {
  let depth = 0
  while (at < text.length) {
    const char = text[at]
    if (char === '"') {
      at = endOfString(text, at)
      if (depth === 0) return at
      continue
    }
    if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (char === ',' || char === ' ' || char === '\n' || char === '\r' || char === '\t'))
      return at
    at++
  }
  return at
}

/**
 * Sets top-level members of a JSON object text and leaves every other byte as it is: unknown fields, number spelling
 * and key order survive. Of a key that stands more than once the first and the last are set: which of them counts differs
 * between parsers, and what is set may be long. `text` must have been parsed before.
 */
export function setMembers(text: string, values: Readonly<Record<string, unknown>>): string {
  const pending = new Map(Object.entries(values))
  if (pending.size === 0) return text
  const found = new Map<string, { first: Member; last: Member }>()
  for (const member of members(text)) {
    if (pending.has(member.key)) found.set(member.key, { first: found.get(member.key)?.first ?? member, last: member })
  }
  const edits = [...found.values()].flatMap(({ first, last }) => (first === last ? [first] : [first, last]))
  let result = ''
  let at = 0
  for (const { key, valueStart, end } of edits.toSorted((one, other) => one.start - other.start)) {
    result += text.slice(at, valueStart) + JSON.stringify(pending.get(key))
    at = end
  }
  result += text.slice(at)
  const missing = [...pending].filter(([key]) => !found.has(key))
  return missing.length === 0 ? result : insertMembers(result, missing)
}

/** Puts members at the front of an object that does not have them; needs no scan of the text. */
export function insertMembers(text: string, entries: readonly (readonly [string, unknown])[]): string {
  const open = text.indexOf('{') + 1
  const added = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')
  const isEmpty = text[skipSpace(text, open)] === '}'
  return `${text.slice(0, open)}${added}${isEmpty ? '' : ','}${text.slice(open)}`
}

/**
 * True when a top-level key stands twice: parsers differ in which of them counts, so what is charged and what is served
 * could differ. The scan is made only when the text gives a reason for it.
 */
export function hasTwice(text: string, key: string): boolean {
  const quoted = `"${key}"`
  const first = text.indexOf(quoted)
  // Looking on is much faster than looking from the end.
  const isOnce = first < 0 || text.indexOf(quoted, first + 1) < 0
  // A single character is found much faster than several.
  if (isOnce && !(text.includes('\\') && text.includes('\\u00'))) return false
  let count = 0
  for (const member of members(text)) if (member.key === key) count++
  return count > 1
}
