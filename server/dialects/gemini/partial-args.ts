import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseList } from '../neutral/fields.ts'

/**
 * Assembles the arguments of a call that arrive in pieces. Each piece names the path of its value (Gemini API,
 * "PartialArg").
 */
export class PartialArgs {
  readonly args: JsonObject = {}
  /** The beginning of a string that continues in the next piece; empty if the last piece completed its value. */
  #openText = ''

  add(pieces: unknown): void {
    for (const piece of looseList(pieces)) {
      const path = typeof piece['jsonPath'] === 'string' ? stepsOf(piece['jsonPath']) : []
      if (path.length === 0) continue
      const text = piece['stringValue']
      const value = typeof text === 'string' ? this.#openText + text : otherValue(piece)
      this.#openText = typeof value === 'string' && piece['willContinue'] === true ? value : ''
      put(this.args, path, value)
    }
  }
}

function otherValue(piece: JsonObject): unknown {
  return piece['numberValue'] ?? piece['boolValue'] ?? null
}

/** Splits a path such as `$.recipe.steps[2].text` into its names and numbers. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  for (const [, name, index, quoted] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g)) {
    steps.push(index === undefined ? (name ?? quoted ?? '').replace(/\\(.)/g, '$1') : Number(index))
  }
  return steps
}

function put(root: JsonObject, path: readonly (string | number)[], value: unknown): void {
  let at: JsonObject | unknown[] = root
  for (const [depth, step] of path.entries()) {
    // `__proto__` would write to the prototype that all objects share.
    if (step === '__proto__' || (Array.isArray(at) && (typeof step !== 'number' || step > at.length))) return
    const holder = at as Record<string | number, unknown>
    const next = path[depth + 1]
    if (next === undefined) {
      holder[step] = value
      return
    }
    const existing = Object.hasOwn(holder, step) ? holder[step] : undefined
    const inner: JsonObject | unknown[] =
      Array.isArray(existing) || isObject(existing) ? existing : typeof next === 'number' ? [] : {}
    holder[step] = inner
    at = inner
  }
}
