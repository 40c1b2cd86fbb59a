/** A virtual model reduced to its name and its steps, which can form a cycle. */
export interface Stepping {
  readonly name: string
  readonly steps: readonly { readonly model: string }[]
}

/**
 * The names on a path of steps from a virtual model back to itself, such as `a`, `b`, `a`. Undefined if there is no
 * such path.
 */
export function circleOfSteps(models: readonly Stepping[], name: string): string[] | undefined {
  const byName = new Map(models.map((model) => [model.name, model]))
  const seen = new Set<string>()
  const search = (from: string, way: readonly string[]): string[] | undefined => {
    for (const { model } of byName.get(from)?.steps ?? []) {
      if (model === name) return [...way, model]
      if (seen.has(model)) continue
      seen.add(model)
      const found = search(model, [...way, model])
      if (found) return found
    }
    return undefined
  }
  return search(name, [name])
}
