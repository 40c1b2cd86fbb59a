import type { ChannelTypeEntry } from '../../../contract/api/channel.ts'
import { isSecretHeader } from '../../../contract/api/channel-carries.ts'
import type { ChannelLimit } from '../../../contract/api/channel-limits.ts'
import type { ConfigChange } from '../../../contract/api/config.ts'
import type { ChannelEntry } from '../../../contract/config-file.ts'
import { isObject } from '../../lib/json.ts'
import { nearestName } from '../../lib/nearest-name.ts'
import { sealedKeys } from '../../store/channels/channel-keys.ts'
import { allChannels, type ChannelRow } from '../../store/channels/channels.ts'
import { keysIn } from '../../store/channels/key-lines.ts'
import { textsIn } from '../../store/channels/stored-carries.ts'
import { capsOfChannels } from '../../store/ledger/caps.ts'
import type { Trx } from '../../store/store.ts'
import {
  ConfigFault,
  type ConfigKind,
  differences,
  EntryFault,
  maskedSecret,
  type PlanContext,
  type PlannedChange,
  plainSecret,
} from '../config-kind.ts'
import { planByName } from '../plan-by-name.ts'
import { carryFields } from './carry-input.ts'
import { changedChannel, knownTypes, newChannels, removeChannelIn } from './change-channels.ts'
import { bodyNames, bodyOf, type Columns, exportedEntry, fieldsOf } from './channel-entry.ts'
import { channelFields } from './channel-input.ts'
import { newKeys } from './channel-keys.ts'
import { limitView } from './channel-limits.ts'
import { readableCarries } from './stored-carries.ts'

/** A channel of the installation, with its limits. */
interface Existing {
  row: ChannelRow
  limits: ChannelLimit[]
}

/**
 * The section `channels` of a configuration file. Fields that an entry omits get their defaults. There are three
 * exceptions: secrets, `enabled` and `draining` stay unchanged.
 */
export const channelsKind: ConfigKind<'channels'> = {
  section: 'channels',
  names: (wanted) => wanted.map(({ name }) => name),

  async plan(trx, wanted, context) {
    const existing = await existingChannels(trx)
    return planByName(
      {
        section: 'channels',
        ...{ wanted, existing, refuseSame },
        nameOf: ({ row }) => row.name,
        planEntry: (entry, same) => planChannel(trx, entry, same, context),
        removal: ({ row }) => ({
          op: 'remove',
          name: row.name,
          fields: [],
          make: (trx) => removeChannelIn(trx, context.deps, { ...context.actor, id: row.id }),
        }),
      },
      context,
    )
  },

  async export(db, { secrets, catalogue }, placeholder) {
    const existing = await existingChannels(db)
    for (const sames of Map.groupBy(existing, ({ row }) => row.name).values()) refuseSame(sames, ['channels'])
    const types = catalogue()
    const entries = existing
      .sort((a, b) => (a.row.name < b.row.name ? -1 : 1))
      .map(({ row, limits }) => exportedEntry(row, { type: typeName(types, row.type), limits, secrets, placeholder }))
    return entries.length === 0 ? undefined : entries
  },
}

async function existingChannels(db: Trx): Promise<Existing[]>
async function existingChannels(db: Parameters<typeof allChannels>[0]): Promise<Existing[]>
async function existingChannels(db: Parameters<typeof allChannels>[0]): Promise<Existing[]> {
  const rows = await allChannels(db)
  const caps = Map.groupBy(
    await capsOfChannels(
      db,
      rows.map(({ id }) => id),
    ),
    ({ owner_id }) => owner_id,
  )
  return rows.map((row) => ({ row, limits: (caps.get(row.id) ?? []).map(limitView) }))
}

function refuseSame(sames: readonly Existing[], path: readonly PropertyKey[]): void {
  const [first] = sames
  if (!first) return
  const ids = sames.map(({ row }) => row.id).join(', ')
  if (first.row.name === '')
    throw new ConfigFault(path, `Channels without a name cannot be in a configuration file. Name these first: ${ids}.`)
  if (sames.length > 1)
    throw new ConfigFault(
      path,
      `There are ${sames.length} channels named ${JSON.stringify(first.row.name)} (ids ${ids}). Rename all but one of them first.`,
    )
}

function typeName(types: readonly ChannelTypeEntry[], type: number): string | number {
  return types.find((each) => each.type === type)?.name ?? type
}

function typeOf(types: readonly ChannelTypeEntry[], given: string | number): number {
  if (typeof given === 'number') return given
  const known = types.find(({ name }) => name === given)
  if (known) return known.type
  const near = nearestName(
    given,
    types.map(({ name }) => name),
  )
  throw new EntryFault(`there is no channel type ${given}${near === undefined ? '' : `; did you mean ${near}?`}.`)
}

async function planChannel(
  trx: Trx,
  entry: ChannelEntry,
  existing: Existing | undefined,
  { deps, actor }: PlanContext,
): Promise<PlannedChange | undefined> {
  const types = deps.catalogue()
  const type = typeOf(types, entry.type)
  const body = bodyOf(entry, type)
  const keys = keysOf(entry)
  const stored = existing && readableCarries(existing.row, deps.secrets)
  const columns: Columns = {
    ...channelFields(body, knownTypes(deps)),
    ...carryFields(body, textsIn(stored?.headers ?? '')),
  }
  const after = fieldsOf(columns, typeName(types, type), body.limits)
  if (!existing || !stored) {
    if (!keys) throw new EntryFault('a new channel needs a key.')
    const add = newChannels(deps, { ...actor, body: { ...body, ...keys } })
    const shown = Object.entries(exportedFields(after)).map(([field, value]) => ({ field, before: '', after: value }))
    return {
      op: 'add',
      name: entry.name,
      fields: [...shown, { field: 'key', before: '', after: maskedSecret }],
      make: async (trx) => void (await add(trx)),
    }
  }
  const { row } = existing
  const limits = existing.limits
  const before = fieldsOf({ ...row, headers: stored.headers }, typeName(types, row.type), limits)
  const compared = Object.fromEntries(Object.keys(after).map((name) => [name, before[name]]))
  const fields = differences(compared, after).map((field) =>
    field.field === 'headers' ? maskedHeaders(before['headers'], after['headers']) : field,
  )
  const isOtherLogin = columns.proxy_login !== undefined && columns.proxy_login !== stored.proxy_login
  if (isOtherLogin) fields.push(secretChange('proxy_login', stored.proxy_login, columns.proxy_login ?? ''))
  const isOtherKey = keys !== undefined && !(await hasKeys(trx, deps.secrets, row.id, keys))
  if (isOtherKey) fields.push(secretChange('key', maskedSecret, maskedSecret))
  if (fields.length === 0) return undefined
  const sent = Object.fromEntries(
    fields
      .filter(({ field }) => field !== 'key')
      .map(({ field }) => [bodyNames[field] ?? field, sentValue(body, field)]),
  )
  const change = changedChannel(deps, { ...actor, body: { ...sent, ...(isOtherKey && keys), id: row.id } })
  return { op: 'change', name: entry.name, fields, make: change }
}

function sentValue(body: Readonly<Record<string, unknown>>, field: string): unknown {
  return body[bodyNames[field] ?? field]
}

/** The key fields of a request body; undefined if the entry does not change the key. */
function keysOf({ key, keys }: ChannelEntry): { key: string; key_mode: 'single' | 'multi' } | undefined {
  if (key !== undefined && keys !== undefined) throw new EntryFault('name either key or keys, not both.')
  if (keys) {
    const lines = [...new Set(keys.flatMap((each) => newKeys(plainSecret(each))))]
    if (lines.length === 0) throw new EntryFault('keys are empty.')
    return { key: lines.join('\n'), key_mode: 'multi' }
  }
  if (key === undefined) return undefined
  const text = plainSecret(key).trim()
  if (text === '') throw new EntryFault('key is empty.')
  if (newKeys(text).length > 1 && !text.includes('{'))
    throw new EntryFault('key has several lines. Write several keys as a list in keys.')
  // The JSON file of a cloud account may contain line breaks, but the management API treats each line as a key. The
  // lines are therefore joined.
  return { key: newKeys(text).join(' '), key_mode: 'single' }
}

async function hasKeys(
  trx: Trx,
  secrets: PlanContext['deps']['secrets'],
  id: number,
  { key, key_mode }: { key: string; key_mode: 'single' | 'multi' },
): Promise<boolean> {
  const stored = await sealedKeys(trx, id)
  if (!stored || stored.key_mode !== key_mode) return false
  try {
    return keysIn(secrets.open(stored.key, 'channel'), stored.key_mode).join('\n') === key
  } catch {
    return false
  }
}

function secretChange(field: string, before: string, after: string): ConfigChange['fields'][number] {
  const shown = (value: string) => (value === '' ? '' : maskedSecret)
  return { field, before: shown(before), after: after === '' ? '' : `${maskedSecret} (different)` }
}

/** The headers of an entry. The values of secret headers are masked. */
function masked(headers: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [
      name,
      isSecretHeader(name) ? maskedSecret : value,
    ]),
  )
}

function maskedHeaders(before: unknown, after: unknown): ConfigChange['fields'][number] {
  const shown = { before: JSON.stringify(masked(before)), after: JSON.stringify(masked(after)) }
  const note = shown.before === shown.after ? ' (different)' : ''
  return { field: 'headers', before: shown.before, after: `${shown.after}${note}` }
}

/** The non-empty fields of a new channel, as a plan shows them. */
function exportedFields(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const shown = { ...fields, headers: masked(fields['headers']) }
  const told = differences({}, shown).filter(({ after }) => !['', '""', '0', '[]', '{}'].includes(after))
  return Object.fromEntries(told.map(({ field, after }) => [field, after]))
}
