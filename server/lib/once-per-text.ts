/**
 * The maximum number of results that are kept. The texts come from requests, so without a limit callers could fill the
 * memory.
 */
const mostKept = 5_000

/** Wraps a function so that its results are cached by text. If the cache is full, all results are dropped. */
export function oncePerText<T>(compute: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined || kept.has(text)) return known as T
    if (kept.size >= mostKept) kept.clear()
    const result = compute(text)
    kept.set(text, result)
    return result
  }
}
