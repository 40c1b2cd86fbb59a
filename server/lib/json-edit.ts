/** The position of a member of the top-level object in the text. */
interface Member {
  key: string
  /** Offset of the key's opening quote, and of the end of the value. */
  start: number
  valueStart: number
  end: number
}

/**
 * The members of the top-level object of a valid JSON text. Only the top level is read. Nested values are skipped by
 * counting brackets, and strings by searching for their closing quote.
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

const quote = 34
const comma = 44
const openList = 91
const closeList = 93
const openObject = 123
const closeObject = 125

function endOfValue(text: string, at: number): number {
  let depth = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      if (depth === 0) return at
      continue
    }
    if (code === openObject || code === openList) depth++
    else if (code === closeObject || code === closeList) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (code === comma || code === 32 || code === 10 || code === 13 || code === 9)) return at
    at++
  }
  return at
}

/**
 * Sets top-level members of the text of a JSON object. All other bytes stay the same, including unknown fields, the
 * spelling of numbers and the order of keys. If a key occurs more than once, its first and last occurrences are set,
 * because parsers differ in which one they use. The occurrences in between are not set, because their values may be
 * long. `text` must be a valid JSON object.
 */
export function setMembers(text: string, values: Readonly<Record<string, unknown>>): string {
  const pending = new Map(Object.entries(values))
  if (pending.size === 0) return text
  const occurrences = new Map<string, { first: Member; last: Member }>()
  for (const member of members(text)) {
    if (pending.has(member.key))
      occurrences.set(member.key, { first: occurrences.get(member.key)?.first ?? member, last: member })
  }
  const edits = [...occurrences.values()].flatMap(({ first, last }) => (first === last ? [first] : [first, last]))
  let result = ''
  let at = 0
  for (const { key, valueStart, end } of edits.toSorted((one, other) => one.start - other.start)) {
    result += text.slice(at, valueStart) + JSON.stringify(pending.get(key))
    at = end
  }
  result += text.slice(at)
  const missing = [...pending].filter(([key]) => !occurrences.has(key))
  return missing.length === 0 ? result : insertMembers(result, missing)
}

/** Removes every occurrence of a top-level member. `text` must be a valid JSON object. */
export function removeMember(text: string, key: string): string {
  let result = text
  for (;;) {
    let previousEnd: number | undefined
    let found: { from: number; to: number } | undefined
    for (const member of members(result)) {
      if (member.key === key) {
        const after = skipSpace(result, member.end)
        // One comma is removed with the member: the comma after it or, if it is the last member, the comma before it.
        if (result[after] === ',') found = { from: member.start, to: skipSpace(result, after + 1) }
        else found = { from: previousEnd ?? member.start, to: member.end }
        break
      }
      previousEnd = member.end
    }
    if (!found) return result
    result = result.slice(0, found.from) + result.slice(found.to)
  }
}

/**
 * Inserts members at the beginning of a JSON object, which must not have members with the same names. This is not
 * checked.
 */
export function insertMembers(text: string, entries: readonly (readonly [string, unknown])[]): string {
  const open = text.indexOf('{') + 1
  const added = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')
  const isEmpty = text[skipSpace(text, open)] === '}'
  return `${text.slice(0, open)}${added}${isEmpty ? '' : ','}${text.slice(open)}`
}

/**
 * The number of members of the object and of the objects nested in it, except those within lists.
 * `JsonScan.plainMembers` counts the same members of a text, including duplicates, so the two numbers differ if a name
 * occurs twice in an object.
 */
export function countPlainMembers(object: Readonly<Record<string, unknown>>): number {
  let count = 0
  for (const name in object) {
    count++
    const value = object[name]
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      count += countPlainMembers(value as Record<string, unknown>)
  }
  return count
}

/**
 * The path of the first member that occurs twice in a valid JSON object or in an object nested in it, for example
 * `a.b`. Objects within lists are not searched. Undefined if no member occurs twice.
 */
export function findTwice(text: string): string | undefined {
  const open: { path: string; names: Set<string> }[] = []
  let at = skipSpace(text, 0)
  for (;;) {
    const code = text.charCodeAt(at)
    const owner = open.at(-1)
    if (code === closeObject) open.pop()
    if (code === closeObject || code === comma) at = skipSpace(text, at + 1)
    else if (code === openObject) {
      open.push({ path: '', names: new Set() })
      at = skipSpace(text, at + 1)
    } else if (owner && code === quote) {
      const keyEnd = endOfString(text, at)
      const name = JSON.parse(text.slice(at, keyEnd)) as string
      if (owner.names.has(name)) return [...open.slice(1).map(({ path }) => path), name].join('.')
      owner.names.add(name)
      at = skipSpace(text, skipSpace(text, keyEnd) + 1)
      if (text.charCodeAt(at) !== openObject) {
        at = skipSpace(text, endOfValue(text, at))
        continue
      }
      open.push({ path: name, names: new Set() })
      at = skipSpace(text, at + 1)
    } else return undefined
  }
}
