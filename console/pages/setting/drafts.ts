import type { OptionDefinitionEntry } from '../../../contract/api/option.ts'
import { text } from '../../lib/text.ts'
import { parseJson } from './json-text.ts'

/** An option with its value; the value of a secret is always ''. */
export interface Option extends OptionDefinitionEntry {
  value: string
}

/** Typed values that are not saved yet, by key. */
export type Drafts = Readonly<Record<string, string>>

/** Options whose value is a base URL to which paths are appended. */
const baseAddresses = ['ServerAddress', 'WeChatServerAddress', 'GitHubOAuthBaseURL', 'GitHubApiBaseURL']

/**
 * The value sent when the draft is saved. Base URLs are sent without a trailing slash, and an empty number is sent as
 * its default.
 */
export function sentValue(option: OptionDefinitionEntry, draft: string): string {
  if (baseAddresses.includes(option.key)) return draft.trim().replace(/\/+$/, '')
  if (option.kind !== 'integer' && option.kind !== 'number') return draft
  return draft.trim() === '' ? option.default : draft.trim()
}

/** Whether saving the draft would change anything. An empty box for a secret keeps the secret. */
export function isChanged(option: Option, draft: string | undefined): draft is string {
  if (draft === undefined) return false
  if (option.secret) return draft !== ''
  if (option.kind === 'json') return plainJson(draft) !== plainJson(option.value)
  return sentValue(option, draft) !== option.value
}

/** Whether the saved value of an option is not its default. A secret has no default. */
export function differsFromDefault(option: Option): boolean {
  if (option.secret) return option.is_set === true
  if (option.kind === 'json') return plainJson(option.value) !== plainJson(option.default)
  return option.value !== option.default
}

/** The problem with a draft, in the page's language; undefined if it may be sent. */
export function problemOf(option: Option, draft: string, name: string): string | undefined {
  if (option.kind === 'json') return parseJson(draft) === undefined ? brokenJson(option.key, name) : undefined
  if (option.kind !== 'integer' && option.kind !== 'number') return undefined
  const value = Number(sentValue(option, draft))
  if (!Number.isFinite(value)) return text('form.number')
  if (option.kind === 'integer' && !Number.isSafeInteger(value)) return text('form.integer')
  if (option.min !== undefined && value < option.min) return text('form.min', { min: option.min })
  if (option.max !== undefined && value > option.max) return text('form.max', { max: option.max })
  return undefined
}

/** The message for a JSON option whose text is not a JSON object. */
export function brokenJson(key: string, name: string): string {
  if (key === 'ModelRatio') return text('setting.json.ModelRatio')
  return key === 'GroupRatio' ? text('setting.json.GroupRatio') : text('setting.json', { name })
}

function plainJson(source: string): string {
  const value = parseJson(source)
  return value === undefined ? source : JSON.stringify(value)
}

/**
 * The old and the new value of a change, for the review. For JSON, only the entries that differ are included; for a
 * secret, no value is shown.
 */
export function changeTexts(option: Option, draft: string): { before: string; after: string } {
  if (option.secret) return { before: option.is_set ? '••••' : '', after: text('setting.secret.new') }
  const [before, after] = [parseJson(option.value), parseJson(draft)]
  if (option.kind !== 'json' || !before || !after) return { before: option.value, after: sentValue(option, draft) }
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  return { before: entries(before, differs), after: entries(after, differs) }
}

function entries(of: Readonly<Record<string, unknown>>, wanted: (name: string) => boolean): string {
  const lines = Object.entries(of).flatMap(([name, value]) =>
    wanted(name) ? [`${name}: ${JSON.stringify(value)}`] : [],
  )
  return lines.join('\n')
}
