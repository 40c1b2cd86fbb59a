import { maxFilterValues } from '../../contract/filter-values.ts'

// The state of the URL consists of texts. If a parameter has several values, they are the lines of its text, because no
// name contains a line break. In the URL, the parameter is repeated (see `url-state.ts`).

/** The values of a parameter. */
export function severalOf(text: string | undefined): string[] {
  return text === undefined || text === '' ? [] : text.split('\n').slice(0, maxFilterValues)
}

/** The parameter with these values; undefined if there are none. */
export function severalText(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.slice(0, maxFilterValues).join('\n')
}
