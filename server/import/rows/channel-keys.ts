import { isObject, tryParse } from '../../lib/json.ts'
import { keyLines } from '../../store/channels/key-lines.ts'
import { inner, integerOf, object, text, trimmed } from '../fields.ts'
import type { Program } from '../program.ts'
import type { SourceRow } from '../sources/source-database.ts'

/** The keys of a channel. */
export interface ChannelKeys {
  keys: string[]
  mode: 'single' | 'multi'
  /** The indexes of keys that the program had disabled, with the reasons. */
  dead: { index: number; reason: string }[]
}

const bedrock = 33
const vertex = 42

/** The keys of a channel in the form that its type requires. */
export function channelKeys(row: SourceRow, type: number, { name }: Program): ChannelKeys {
  const stored = trimmed(row, 'key')
  const info = name === 'new-api' ? object(row, 'channel_info') : undefined
  const list = tryParse(stored)
  const isFile = stored.startsWith('{')
  const several = Array.isArray(list)
    ? list.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
    : isFile
      ? [stored]
      : keyLines(stored)
  const keys = several.map((key) => formed(key, row, type, name))
  const isMulti = info?.['is_multi_key'] === true || keys.length > 1
  const statuses = inner(info, 'multi_key_status_list') ?? {}
  const reasons = inner(info, 'multi_key_disabled_reason') ?? {}
  const dead = Object.entries(statuses)
    .filter(([, status]) => integerOf(status, 1) !== 1)
    .map(([index]) => ({ index: Number(index), reason: String(reasons[index] ?? 'disabled before the import') }))
    .filter(({ index }) => index < keys.length)
  return { keys, mode: isMulti ? 'multi' : 'single', dead: isMulti ? dead : [] }
}

function formed(key: string, row: SourceRow, type: number, program: Program['name']): string {
  if (type === bedrock && program === 'one-hub') {
    const [region, accessKey, secret] = key.split('|')
    return secret === undefined ? key : [accessKey, secret, region].join('|')
  }
  if (type !== vertex || !key.startsWith('{')) return key
  const account = tryParse(key)
  if (!isObject(account)) return key
  const other = text(row, 'other')
  const regions = tryParse(other)
  const [region = '', project = ''] = isObject(regions) ? [String(regions['default'] ?? '')] : other.split('|')
  return [region || 'global', project || String(account['project_id'] ?? ''), JSON.stringify(account)].join('|')
}
