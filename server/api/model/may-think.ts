import { factsOf } from './model-facts.ts'

const mostRemembered = 1000
const known = new Map<string, boolean>()

/** False for a model that is known not to think before its first content. Unknown models may think. */
export function mayThink(model: string): boolean {
  let thinks = known.get(model)
  if (thinks === undefined) {
    thinks = factsOf(model)?.reasoning ?? true
    if (known.size >= mostRemembered) known.clear()
    known.set(model, thinks)
  }
  return thinks
}
