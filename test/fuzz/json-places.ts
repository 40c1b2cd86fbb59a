import type { JsonText } from './bad-values.ts'

/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** The path of one value in a body. */
export type Place = readonly (string | number)[]

/** The paths of all values inside the value. */
export function placesOf(value: Json, above: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return above.length === 0 ? [] : [above]
  const inner = Array.isArray(value) ? value.map((each, at) => [at, each] as const) : Object.entries(value)
  return [
    ...(above.length === 0 ? [] : [above]),
    ...inner.flatMap(([name, each]) => placesOf(each as Json, [...above, name])),
  ]
}

/** The value as JSON, with `text` in place of the value at `place`. */
export function written(value: Json, place: Place, text: JsonText): JsonText {
  const [head, ...rest] = place
  if (head === undefined) return text
  const inner = (name: string | number, each: Json) =>
    name === head ? written(each, rest, text) : JSON.stringify(each)
  if (Array.isArray(value)) return `[${value.map((each: Json, at) => inner(at, each)).join(',')}]`
  const fields = Object.entries(value as Record<string, Json>)
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${inner(name, each)}`).join(',')}}`
}
