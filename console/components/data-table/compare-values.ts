const collators = new Map<string, Intl.Collator>()

/** Collators are cached, because creating one takes longer than many comparisons. */
function collatorOf(language: string): Intl.Collator {
  const known = collators.get(language)
  if (known) return known
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' })
  collators.set(language, collator)
  return collator
}

/** Orders numbers by size and text by the rules of the language. Missing values come last. */
export function compareValues(a: unknown, b: unknown, language: string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a === undefined || a === null || a === '') return b === undefined || b === null || b === '' ? 0 : 1
  if (b === undefined || b === null || b === '') return -1
  return collatorOf(language).compare(String(a), String(b))
}
