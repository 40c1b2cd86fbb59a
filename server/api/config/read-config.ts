import type * as z from 'zod/mini'
import { type ConfigFile, configFileSchema, maxConfigBytes } from '../../../contract/config-file.ts'
import { checkInput } from '../../http/parse-input.ts'
import { messageOf } from '../../lib/message-of.ts'
import { nearestName } from '../../lib/nearest-name.ts'
import { ConfigFault } from '../config-kind.ts'

/** A configuration file that fits the schema. */
export interface ReadConfig {
  file: ConfigFile
  /** The position of a part of the file, such as `line 4, column 7: `; empty if unknown. */
  locate(path: readonly PropertyKey[]): string
}

/**
 * The maximum number of aliases. An alias is replaced by its value, and a few nested aliases can expand to gigabytes.
 */
const mostAliases = 100
/**
 * The maximum depth of nesting. It is more than any configuration needs, and less than the few thousand levels at which
 * the parser fails.
 */
const mostLevels = 500
const tooDeep = `The file is nested more than ${mostLevels} levels deep.`

/** Reads YAML or JSON. Throws ConfigFault with one sentence that contains the line. */
export async function readConfig(text: string): Promise<ReadConfig> {
  if (text.length > maxConfigBytes) throw new ConfigFault([], 'The file is larger than 4 MiB.')
  if (nestingOf(text) > mostLevels) throw new ConfigFault([], tooDeep)
  const { document, locate } = await parsed(text)
  const value = plainValue(document, locate)
  if (value === null || value === undefined) throw new ConfigFault([], 'The file is empty.')
  const anywhere = faultIn(value)
  if (anywhere !== undefined) throw new ConfigFault([], anywhere)
  const checked = checkInput(configFileSchema, value)
  if (checked.ok) return { file: checked.value, locate }
  const { path, fault, unknown } = checked
  const [name] = unknown
  if (name === undefined) throw new ConfigFault([], `${locate(path)}${shownPath(path) || 'The file'} ${fault}.`)
  const near = nearestName(name, namesAt(configFileSchema, path))
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  const inside = path.length === 0 ? 'the file' : shownPath(path)
  throw new ConfigFault([], `${locate([...path, name])}${inside} has an unknown field ${shownName(name)}.${hint}`)
}

type Document = import('yaml').Document.Parsed
type Locate = ReadConfig['locate']

async function parsed(text: string): Promise<{ document: Document; locate: Locate }> {
  // Loaded on demand, because the package is large and few processes ever read a configuration.
  const yaml = await import('yaml')
  const { LineCounter, parseAllDocuments } = yaml
  const lines = new LineCounter()
  let documents: Document[]
  try {
    const read = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: false })
    documents = Array.isArray(read) ? (read as Document[]) : []
  } catch (error) {
    throw new ConfigFault([], `The file cannot be read as YAML: ${messageOf(error)}.`)
  }
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}: `
  }
  const [document, second] = documents
  if (!document) throw new ConfigFault([], 'The file is empty.')
  const fault = [...document.errors, ...document.warnings][0]
  if (fault) throw new ConfigFault([], `${at(fault.pos[0])}${firstLine(fault.message)}.`)
  const twice = repeatedKey(yaml, document)
  if (twice) throw new ConfigFault([], `${at(twice.offset)}the name ${shownName(twice.name)} occurs twice.`)
  if (second) throw new ConfigFault([], `${at(second.range[0])}the file has a second document. Write one.`)
  return { document, locate: (path) => located(document, path, at) }
}

/**
 * Finds a name that occurs twice in an object. The package's own check compares each name with all others, which takes
 * seconds for a few thousand names.
 */
function repeatedKey(
  { visit, isScalar }: typeof import('yaml'),
  document: Document,
): { name: string; offset: number } | undefined {
  let found: { name: string; offset: number } | undefined
  visit(document, {
    Map(_, map) {
      const names = new Set<string>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const name = String(key.value)
        if (names.has(name)) {
          found = { name, offset: key.range?.[0] ?? 0 }
          return visit.BREAK
        }
        names.add(name)
      }
      return undefined
    },
  })
  return found
}

function plainValue(document: Document, locate: Locate): unknown {
  try {
    return document.toJS({ maxAliasCount: mostAliases, mapAsMap: false }) as unknown
  } catch (error) {
    const isBomb = /alias count/i.test(messageOf(error))
    if (isBomb) throw new ConfigFault([], `The file repeats its anchors more than ${mostAliases} times.`)
    throw new ConfigFault([], `${locate([])}the file cannot be read as YAML: ${firstLine(messageOf(error))}.`)
  }
}

/** The position of the deepest part of the path that exists in the document. */
function located(document: Document, path: readonly PropertyKey[], at: (offset: number) => string): string {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsetOf(document, path.slice(0, length))
    if (offset !== undefined) return at(offset)
  }
  return ''
}

/** The offset of the value at a path. For a member of an object, the offset of the member's name. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  const name = path.at(-1)
  const parent = document.getIn(path.slice(0, -1).map(String), true) as { items?: unknown[] } | undefined
  if (name !== undefined && typeof name === 'string' && Array.isArray(parent?.items)) {
    for (const item of parent.items as { key?: { value?: unknown; range?: number[] } }[])
      if (item.key?.value === name) return item.key.range?.[0]
  }
  const node = document.getIn(
    path.map((each) => (typeof each === 'symbol' ? '' : each)),
    true,
  ) as { range?: number[] } | undefined
  return node?.range?.[0]
}

/**
 * Returns the fault if a value is not allowed in any part of the file; otherwise undefined. NUL is not allowed, because
 * PostgreSQL cannot store it. Lone surrogates (halves of a character) are not allowed, because a database would replace
 * them. Too many levels are not allowed, because an anchor that contains itself is nested infinitely.
 */
function faultIn(value: unknown, level = 0): string | undefined {
  if (level > mostLevels) return tooDeep
  if (typeof value === 'string')
    return value.includes('\0') || !value.isWellFormed()
      ? 'The file must not contain NUL characters or lone surrogates (halves of a character).'
      : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, each] of Object.entries(value)) {
    const fault = faultIn(name, level) ?? faultIn(each, level + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** An upper bound for the nesting depth of brackets and indentation. */
function nestingOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const char of text) {
    if (char === '[' || char === '{') deepest = Math.max(deepest, ++depth)
    else if ((char === ']' || char === '}') && depth > 0) depth--
  }
  for (const [compact] of text.matchAll(/^[ \t]*(?:[-?:][ \t]+){2,}/gm))
    deepest = Math.max(deepest, compact.replaceAll(/[^-?:]/g, '').length)
  return deepest
}

/** The names of the fields that the schema allows in the object at a path. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = schema._zod as { def: SchemaDef }
  if (def.innerType) return namesAt(def.innerType, path)
  const [first, ...rest] = path
  if (first === undefined) return Object.keys(def.shape ?? {})
  const inner = def.shape ? def.shape[String(first)] : (def.element ?? def.valueType)
  return inner ? namesAt(inner, rest) : []
}

interface SchemaDef {
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly valueType?: z.core.$ZodType
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
}

function shownPath(path: readonly PropertyKey[]): string {
  return path
    .map((each) => (typeof each === 'number' ? `[${each}]` : `.${String(each)}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 300)
}

const shownName = (name: string) => JSON.stringify(name.slice(0, 100))
const firstLine = (text: string) => (text.split('\n')[0] ?? '').replace(/[.:]$/, '').slice(0, 300)
