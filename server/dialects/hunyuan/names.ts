import { isObject, type JsonObject } from '../../lib/json.ts'

/** Fields whose values the caller defines. The names within them are not part of the format. */
const opaque: ReadonlySet<string> = new Set(['Parameters', 'parameters'])

/** A value with its fields in Tencent's spelling: `tool_calls` → `ToolCalls`. */
export function toPascal(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase()))
}

/** A value with its fields in OpenAI's spelling: `ToolCalls` → `tool_calls`. */
export function toSnake(value: unknown): unknown {
  return renamed(value, (name) =>
    name.replace(/[A-Z]/g, (letter, at: number) => (at > 0 ? '_' : '') + letter.toLowerCase()),
  )
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map((each) => renamed(each, rename))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [
    rename(name),
    opaque.has(name) ? each : renamed(each, rename),
  ])
  return Object.fromEntries(entries) as JsonObject
}
