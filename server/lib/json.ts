/** A parsed JSON object whose fields have not been checked. */
export type JsonObject = Record<string, unknown>

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The deepest nesting of lists and objects that is serialised. Real data has a few dozen levels. */
const mostLevels = 500

/**
 * The JSON text of a parsed value. Undefined if the value is nested too deeply. The depth is limited because the time
 * of the runtime's serialiser grows with the square of the depth. Without the limit, 200 KB of brackets would take more
 * than a second.
 */
export function tryStringify(value: unknown): string | undefined {
  return isWithin(value, mostLevels) ? JSON.stringify(value) : undefined
}

/** The JSON text of an object. Throws RangeError if it is nested too deeply. */
export function stringify(value: object): string {
  if (!isWithin(value, mostLevels)) throw new RangeError('nested too deeply to be written')
  return JSON.stringify(value)
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    for (const inner of value as unknown[]) if (!isWithin(inner, levels - 1)) return false
    return true
  }
  for (const name in value) if (!isWithin((value as JsonObject)[name], levels - 1)) return false
  return true
}

/** The parsed value of a text. Undefined if the text is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
