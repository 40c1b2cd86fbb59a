import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { messageOf } from '../../lib/message-of.ts'
import { ImportFailed } from '../import-failed.ts'

/** A larger file is no configuration. */
const largest = 5_000_000

/** True for a file that is text and could be a `config.yaml`: by its name, or by what it holds. */
export function isConfigFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size === 0 || stats.size > largest) return false
  const text = readFileSync(path, 'utf8')
  if (text.startsWith('SQLite format 3')) return false
  return /\.ya?ml$/i.test(path) || /^model_list\s*:/m.test(text)
}

/** Reads a `config.yaml` of LiteLLM; `label` is what messages call it. Throws ImportFailed if it is none. */
export function readConfigFile(path: string, label = path): JsonObject {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new ImportFailed(`There is no file ${label}. Check the path of LiteLLM's config.yaml.`)
  if (stats.size > largest) throw new ImportFailed(`${label} is too large to be a configuration of LiteLLM.`)
  let value: unknown
  try {
    value = parse(readFileSync(path, 'utf8'), { maxAliasCount: 100 })
  } catch (error) {
    const reason = messageOf(error).split('\n')[0] ?? ''
    throw new ImportFailed(
      `${label} is not valid YAML (${reason.replace(/:$/, '')}). Correct it, and run the command again.`,
    )
  }
  if (!isObject(value) || !Array.isArray(value['model_list'] ?? []) || !hasKnownPart(value))
    throw new ImportFailed(`${label} is not a configuration of LiteLLM: it has no model_list.`)
  return value
}

const parts = ['model_list', 'litellm_settings', 'router_settings', 'general_settings']
const hasKnownPart = (value: JsonObject) => parts.some((name) => Object.hasOwn(value, name))
