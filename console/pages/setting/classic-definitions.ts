import type { OptionDefinitionEntry } from '../../../contract/api/option.ts'
import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { optionSections } from '../../../contract/option-sections.ts'
import { isOptionKey, optionDefinitions } from '../../../contract/options.ts'

const secretKeys = ['GitHubClientSecret', 'SMTPToken', 'WeChatServerToken', 'TurnstileSecretKey']

/**
 * The option definitions for a server that does not provide them. They cover the options that the server lists, and the
 * secrets, which such a server does not list. Unknown options are shown as text.
 */
export function classicDefinitions(values: ReadonlyMap<string, string>): OptionDefinitionEntry[] {
  const known = Object.keys(optionDefinitions).filter((key) => values.has(key) || secretKeys.includes(key))
  const unknown = [...values.keys()].filter((key) => !isOptionKey(key))
  return [...known, ...unknown].map(entryOf)
}

function entryOf(key: string): OptionDefinitionEntry {
  const definition: OptionDefinition = isOptionKey(key)
    ? optionDefinitions[key]
    : { kind: 'text', default: '', section: 'general', writer: 'root', description: key }
  const { choices, secret, ...rest } = definition
  const { tab, title } = optionSections[rest.section]
  return {
    key,
    ...rest,
    ...(choices && { choices: [...choices] }),
    secret: secret === true,
    // On a server without option definitions, every user who may read options may also write them.
    writer: 'admin',
    section_title: title,
    tab,
  }
}
