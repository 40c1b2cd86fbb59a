/** Numbers by size, text as the language orders it; what is missing comes last. */
export function compareValues(a: unknown, b: unknown, language: string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (a === undefined || a === null || a === '') return b === undefined || b === null || b === '' ? 0 : 1
  if (b === undefined || b === null || b === '') return -1
  return String(a).localeCompare(String(b), language, { numeric: true, sensitivity: 'base' })
}
