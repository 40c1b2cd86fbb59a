import { isSecretHeader } from '../../../contract/api/channel-carries.ts'
import type { ChannelLimit } from '../../../contract/api/channel-limits.ts'
import type { ChannelEntry } from '../../../contract/config-file.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { splitList } from '../../lib/split-list.ts'
import type { ChannelFields, ChannelRow } from '../../store/channels/channels.ts'
import { type Placeholder, plainSecret } from '../config-kind.ts'
import type { CarryFields } from './carry-input.ts'
import { describeLimits } from './channel-limits.ts'
import { carriesView } from './stored-carries.ts'

/** The fields of an entry that are compared with the installation. Keys and logins are compared separately. */
export type ComparedFields = Readonly<Record<string, unknown>>

/** The default values of fields that an entry omits. */
const blank = {
  groups: ['default'],
  weight: 0,
  priority: 0,
  base_url: '',
  other: '',
  model_mapping: {},
  config: {},
  system_prompt: '',
  tags: [],
  remark: '',
  test_model: '',
  organization: '',
  project: '',
  headers: {},
  parameters: [],
  status_map: {},
  proxy: '',
  limits: [],
} as const

/** Converts an entry to a request body of the management API for saving the channel, without its key. */
export function bodyOf(entry: ChannelEntry, type: number) {
  const { key: _key, keys: _keys, enabled, draining, proxy_login, headers, ...rest } = entry
  const filled = { ...blank, ...withoutNull(rest) }
  return {
    type,
    name: entry.name,
    weight: filled.weight,
    priority: filled.priority,
    base_url: filled.base_url,
    other: filled.other,
    models: entry.models.join(','),
    group: filled.groups.join(','),
    model_mapping: JSON.stringify(filled.model_mapping),
    config: Object.keys(filled.config).length === 0 ? '' : JSON.stringify(filled.config),
    system_prompt: filled.system_prompt,
    tags: [...filled.tags],
    remark: filled.remark,
    test_model: filled.test_model,
    organization: filled.organization,
    project: filled.project,
    headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, plainSecret(value)])),
    parameters: [...filled.parameters],
    status_map: { ...filled.status_map },
    proxy: filled.proxy,
    limits: [...filled.limits],
    ...(enabled !== undefined && { status: enabled ? channelStatus.enabled : channelStatus.disabled }),
    ...(draining !== undefined && { draining }),
    ...(proxy_login !== undefined && { proxy_login: plainSecret(proxy_login) }),
  }
}

/** Fields of an entry that have a different name in the request body. */
export const bodyNames: Readonly<Record<string, string>> = { groups: 'group', enabled: 'status' }

function withoutNull<T extends object>(entry: T): { [K in keyof T]: Exclude<T[K], null | undefined> } {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value != null)) as never
}

/** The columns of a channel that are read for a comparison. Headers are decrypted. */
export type Columns = Omit<ChannelFields, 'key'> & CarryFields

/** Converts columns to the fields of a file. `headers` are not masked. */
export function fieldsOf(columns: Columns, type: string | number, limits: readonly ChannelLimit[]): ComparedFields {
  return {
    type,
    ...(columns.status !== undefined && { enabled: columns.status !== channelStatus.disabled }),
    ...(columns.draining !== undefined && { draining: Boolean(columns.draining) }),
    models: splitList(columns.models ?? ''),
    groups: splitList(columns.group ?? ''),
    weight: columns.weight ?? 0,
    priority: columns.priority ?? 0,
    base_url: columns.base_url ?? '',
    other: columns.other ?? '',
    model_mapping: objectIn(columns.model_mapping),
    config: objectIn(columns.config),
    system_prompt: columns.system_prompt ?? '',
    tags: splitList(columns.tags ?? ''),
    remark: columns.remark ?? '',
    test_model: columns.test_model ?? '',
    organization: columns.organization ?? '',
    project: columns.project ?? '',
    headers: objectIn(columns.headers),
    parameters: columns.parameters ? tryParse(columns.parameters) : [],
    status_map: objectIn(columns.status_map),
    proxy: columns.proxy ?? '',
    limits: describeLimits(limits),
  }
}

function objectIn(text: string | undefined): object {
  const value = text ? tryParse(text) : undefined
  return isObject(value) ? value : {}
}

/** The entry of a channel in an export. Fields that have their default are omitted. */
export function exportedEntry(
  row: ChannelRow,
  beside: { type: string | number; limits: readonly ChannelLimit[]; secrets: Secrets; placeholder: Placeholder },
): ChannelEntry {
  const { type, limits, secrets, placeholder } = beside
  const view = carriesView(row, secrets)
  const fields = fieldsOf({ ...row, headers: '', draining: Boolean(row.draining) }, type, limits)
  const headers = Object.fromEntries(
    Object.entries(view.headers).map(([name, value]) => [
      name,
      isSecretHeader(name) ? (placeholder(row.name, name) ?? '') : value,
    ]),
  )
  const key = placeholder(row.name, 'key')
  const keys = row.key_mode === 'multi' && key !== undefined
  const login = row.proxy_login === '' ? undefined : placeholder(row.name, 'proxy_login')
  const { type: _type, enabled, draining, models, limits: _limits, ...others } = fields
  const told = Object.entries({ ...others, headers }).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(blank[name as keyof typeof blank]),
  )
  return {
    name: row.name,
    type,
    ...(keys
      ? {
          keys: Array.from(
            { length: row.key_count },
            (_, index) => `${placeholder(row.name, 'key', String(index + 1))}`,
          ),
        }
      : key !== undefined && { key }),
    enabled,
    ...(draining === true && { draining }),
    models,
    ...Object.fromEntries(told),
    ...(login !== undefined && { proxy_login: login }),
    ...(limits.length > 0 && { limits }),
  } as ChannelEntry
}
