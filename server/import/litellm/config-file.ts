import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { messageOf } from '../../lib/message-of.ts'
import { ImportFailed } from '../import-failed.ts'

/** A file larger than this is not a configuration. */
const largest = 5_000_000

/** True for a text file that could be a `config.yaml`, judged by its name or its content. */
export function isConfigFile(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || stats.size === 0 || stats.size > largest) return false
  const text = readFileSync(path, 'utf8')
  if (text.startsWith('SQLite format 3')) return false
  return /\.ya?ml$/i.test(path) || /^model_list\s*:/m.test(text)
}

/** Reads a `config.yaml` of LiteLLM. Messages call the file `label`. Throws ImportFailed if it is not such a file. */
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
