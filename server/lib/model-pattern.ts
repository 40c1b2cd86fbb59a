import { capModels } from '../../contract/caps.ts'

/**
 * A regular expression for names and patterns of models, in the syntax that JavaScript and PostgreSQL share; null for
 * all models. `*` stands for any characters.
 */
export function patternOf(models: string): string | null {
  const names = capModels(models)
  if (names.length === 0) return null
  const escaped = names.map((name) => name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*'))
  return `^(${escaped.join('|')})$`
}
