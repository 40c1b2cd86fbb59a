import { refusalOf } from '../../components/form/refusal.ts'
import type { CallError } from '../../lib/call.ts'
import { textByKey } from '../../lib/text.ts'
import type { Option } from './drafts.ts'

type Named = Pick<Option, 'key' | 'description' | 'section' | 'section_title'>

/** The name of an option, or its key if the console has no name for it. */
export function optionName({ key }: Pick<Option, 'key'>): string {
  return textByKey(`option.${key}`) ?? key
}

/** A server message about an option, with the option's name instead of its key. */
export function withOptionName(failure: CallError, key: string): string {
  return refusalOf(failure, key, optionName({ key }))?.sentence ?? failure.message
}

/** What an option does. */
export function optionHint(option: Named): string {
  return textByKey(`option.${option.key}.hint`) ?? option.description
}

/** Heading of a section. */
export function sectionName(option: Named): string {
  return textByKey(`section.${option.section}`) ?? option.section_title
}

/** The name of a unit. */
export function unitName(unit: string): string {
  return textByKey(`unit.${unit}`) ?? unit
}

/** The name of one of the values of a choice. */
export function choiceName(key: string, value: string): string {
  return textByKey(`choice.${key}.${value}`) ?? value
}

/** Whether all words of the search text occur in the option's name, key, hint or section. */
export function isFound(option: Named, words: string): boolean {
  const all = `${optionName(option)} ${option.key} ${optionHint(option)} ${sectionName(option)}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
