import type { OptionDefinition } from '../../../contract/option-kinds.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { splitList } from '../../lib/split-list.ts'
import { OptionError, parseOption } from '../../settings/parse-option.ts'

/** Options whose value is a base URL to which paths are appended. */
export const baseAddresses: readonly OptionKey[] = [
  'ServerAddress',
  'WeChatServerAddress',
  'GitHubOAuthBaseURL',
  'GitHubApiBaseURL',
  'S3Endpoint',
  'LogCopyClickHouseURL',
]

/** Options whose values are not trimmed, because spaces at the beginning and end may be intended. */
const verbatim: readonly OptionKey[] = [
  'Notice',
  'About',
  'HomePageContent',
  'Footer',
  'SMTPToken',
  'BackupPassphrase',
  'LogCopyClickHousePassword',
]

/**
 * Normalises a value for storage: numbers, domains, base URLs and spaces around a value. Throws ApiFailure if the value
 * is invalid.
 */
export function optionText(key: OptionKey, value: string): string {
  const { kind }: OptionDefinition = optionDefinitions[key]
  const text = kind === 'json' || verbatim.includes(key) ? value : value.trim()
  try {
    const parsed = parseOption(key, text)
    if (kind === 'integer' || kind === 'number') return String(parsed)
  } catch (error) {
    if (error instanceof OptionError) throw new ApiFailure(`${error.message}.`)
    throw error
  }
  if (key === 'EmailDomainWhitelist') return domains(text)
  return baseAddresses.includes(key) ? text.replace(/\/+$/, '') : text
}

const domain = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u

/** Lists each domain once, in lower case. People also write domains with a leading @. */
function domains(text: string): string {
  const names = splitList(text).map((each) => each.replace(/^@/, '').toLowerCase())
  const wrong = names.find((each) => !domain.test(each))
  if (wrong !== undefined) throw new ApiFailure(`EmailDomainWhitelist has "${wrong}", which is not a domain.`)
  return [...new Set(names)].join(',')
}
