import type { Text } from '../../lib/text.ts'

/** The number of values that a button lists by name. */
const named = 2

/** A description of what a facet selects, such as "Model is not gpt-4o, o3"; undefined if it selects everything. */
export function facetText(
  t: Text,
  label: string,
  values: { is: readonly string[]; not: readonly string[] },
): string | undefined {
  const list = (all: readonly string[]) =>
    all.length > named ? `${all.slice(0, named).join(', ')} +${all.length - named}` : all.join(', ')
  const parts = [
    ...(values.is.length > 0 ? [t('table.facet.is', { label, values: list(values.is) })] : []),
    ...(values.not.length > 0 ? [t('table.facet.not', { label, values: list(values.not) })] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' · ')
}
