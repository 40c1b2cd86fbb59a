import { capModels } from '../../contract/caps.ts'

/**
 * Converts a list of model names and patterns into a regular expression, in the syntax that JavaScript and PostgreSQL
 * share. In a pattern, `*` matches any characters. Returns null if the list means all models.
 */
export function patternOf(models: string): string | null {
  const names = capModels(models)
  if (names.length === 0) return null
  const escaped = names.map((name) => name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*'))
  return `^(${escaped.join('|')})$`
}
