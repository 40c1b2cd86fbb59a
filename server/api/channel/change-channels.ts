import type { api } from '../../../contract/api/index.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { forgetDeadKeys } from '../../store/channels/channel-keys.ts'
import {
  addChannel,
  type ChannelRow,
  deleteChannel,
  deleteDisabledChannels,
  lockChannel,
  setChannelStatus,
  updateChannel,
} from '../../store/channels/channels.ts'
import { noteDrain } from '../../store/channels/drain-sessions.ts'
import { textsIn } from '../../store/channels/stored-carries.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { forgetCapsOf } from '../../store/ledger/caps.ts'
import type { Trx } from '../../store/store.ts'
import { type Actor, auditEvent, describeChange, describeFields } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { AbilityLimit } from './ability-limit.ts'
import { type CarryFields, carryFields } from './carry-input.ts'
import { channelFields } from './channel-input.ts'
import { changedKeys, forgetOldKeys, manyKeys, newKeys, openKeys, refuseMalformedKeys } from './channel-keys.ts'
import { saveLimits } from './channel-limits.ts'
import { keysFromConfig } from './config-keys.ts'
import { refuseLendingKey, refuseLendingSecrets } from './key-destination.ts'
import { readableCarries, sealedFields } from './stored-carries.ts'

/** The dependencies of channel changes. */
export type ChannelChangeDeps = Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'catalogue'>

/** The type of a new channel if the caller does not give one. */
const defaultType = 1

/**
 * The fields whose values the audit log shows. Prompts and mappings are omitted because they are long, and keys because
 * they are secret.
 */
const shownFields = [
  'type',
  'status',
  'name',
  'weight',
  'priority',
  'base_url',
  'other',
  'models',
  'group',
  'config',
  'key_mode',
  'key_count',
  'draining',
  'tags',
  'remark',
  'test_model',
  'organization',
  'project',
  'parameters',
  'status_map',
  'proxy',
]

type CreateCall = Actor & Pick<PersonCall<typeof api.channel.create>, 'body'>
type UpdateCall = Actor & Pick<PersonCall<typeof api.channel.update>, 'body'>

/** Creates one channel per key, or one channel with all keys. Returns the ids. */
export async function createChannels(deps: ChannelChangeDeps, call: CreateCall): Promise<number[]> {
  return deps.store.write(newChannels(deps, call))
}

/** Validates new channels, and returns a function that creates them in a transaction. Throws ApiFailure. */
export function newChannels(deps: Omit<ChannelChangeDeps, 'store'>, call: CreateCall): (trx: Trx) => Promise<number[]> {
  const { secrets, clock } = deps
  const body = keysFromConfig(call.body)
  const keys = newKeys(body.key ?? '')
  if (!body.name || keys.length === 0) throw new ApiFailure('please fill in channel name and channel key!')
  if (body.models === undefined) throw new ApiFailure('please select at least one model!')
  const carried = sealedFields(carryFields(body, {}), undefined, secrets)
  const fields = { type: defaultType, ...channelFields(body, knownTypes(deps)), ...carried }
  refuseMalformedKeys(fields.type, keys)
  new AbilityLimit().take(fields, body.key_mode === 'multi' ? 1 : keys.length)
  return async (trx) => {
    const ids: number[] = []
    const stored =
      body.key_mode === 'multi' ? [manyKeys(secrets, keys)] : keys.map((key) => ({ key: secrets.seal(key, 'channel') }))
    for (const keyFields of stored) {
      const id = await addChannel(trx, { ...fields, ...keyFields, created_time: epochSeconds(clock) })
      ids.push(id)
      const limits = await saveLimits(trx, id, body.limits ?? [], epochSeconds(clock))
      const detail = [describeFields(fields, shownFields), limits].filter((part) => part !== '').join(' ')
      await recordAudit(trx, auditEvent(clock, call, 'channel.create', `channel ${id}`, detail))
    }
    return ids
  }
}

/** Writes the fields that are sent. An empty key keeps the old key. */
export async function saveChannel(deps: ChannelChangeDeps, call: UpdateCall): Promise<void> {
  await deps.store.write(changedChannel(deps, call))
}

/** Like `saveChannel`, but returns a function that makes the change in a transaction. */
export function changedChannel(deps: Omit<ChannelChangeDeps, 'store'>, call: UpdateCall): (trx: Trx) => Promise<void> {
  const { secrets, clock } = deps
  const body = keysFromConfig(call.body)
  const { id } = body
  const sent = channelFields(body, knownTypes(deps))
  return async (trx) => {
    const before = await lockChannel(trx, id)
    if (!before) throw new ApiFailure('Channel not found.')
    if (sent.models !== undefined || sent.group !== undefined) new AbilityLimit().take({ ...before, ...sent })
    const keys = await changedKeys(trx, secrets, body)
    const type = sent.type ?? before.type
    const after = { type, base_url: sent.base_url ?? before.base_url }
    const isKeyReplaced = Boolean(body.key?.trim()) && !body.key_append
    if (!isKeyReplaced) refuseLendingKey(call.person.role, before, after)
    const fields = { ...sent, ...keys, ...changedCarries(deps, call, { before, after, isKeyReplaced }) }
    // If the type changes and the key stays, the key must also be valid for the new type.
    if (keys.key !== undefined || type !== before.type)
      refuseMalformedKeys(type, await openKeys(trx, secrets, id, keys))
    // All keys are tried again, because a person who enables a channel by hand has checked them.
    if (fields.status === channelStatus.enabled && before.status !== channelStatus.enabled) {
      await forgetDeadKeys(trx, id)
    }
    const names = Object.keys(fields)
    if (names.length === 1 && fields.status !== undefined) await setChannelStatus(trx, id, fields.status)
    else await updateChannel(trx, id, fields)
    if (sent.draining !== undefined && sent.draining !== Boolean(before.draining))
      await noteDrain(trx, id, sent.draining ? epochSeconds(clock) : 0)
    if (keys.key !== undefined) await forgetOldKeys(trx, secrets, id)
    const limits = body.limits && (await saveLimits(trx, id, body.limits, epochSeconds(clock)))
    const detail = [describeChange(before, fields, shownFields), limits].filter(Boolean).join(' ')
    await recordAudit(trx, auditEvent(clock, call, 'channel.update', `channel ${id}`, detail))
  }
}

/** The columns for what the channel adds to its requests, if the body changes them. */
function changedCarries(
  { secrets }: Pick<ChannelChangeDeps, 'secrets'>,
  { body, person }: UpdateCall,
  change: { before: ChannelRow; after: { type: number; base_url: string }; isKeyReplaced: boolean },
): CarryFields {
  const { before, isKeyReplaced } = change
  const stored = readableCarries(before, secrets)
  const sent = carryFields(body, textsIn(stored.headers))
  refuseLendingSecrets(
    person.role,
    { destination: before, carries: stored },
    { destination: change.after, carries: { ...stored, ...sent } },
    { isKeyReplaced, headers: body.headers, login: body.proxy_login },
  )
  return sealedFields(sent, stored, secrets)
}

/** Deletes a channel. It is not an error if the channel is already gone. */
export async function removeChannel(
  { store, clock }: ChannelChangeDeps,
  call: PersonCall<typeof api.channel.remove>,
): Promise<void> {
  await store.write((trx) => removeChannelIn(trx, { clock }, { ...call, id: call.params.id }))
}

/** Deletes a channel in a transaction. It is not an error if the channel is already gone. */
export async function removeChannelIn(
  trx: Trx,
  { clock }: Pick<ChannelChangeDeps, 'clock'>,
  { id, ...actor }: Actor & { id: number },
): Promise<void> {
  const channel = await deleteChannel(trx, id)
  if (!channel) return
  await forgetCapsOf(trx, [id])
  const name = JSON.stringify(channel.name)
  await recordAudit(trx, auditEvent(clock, actor, 'channel.delete', `channel ${id}`, name))
}

/** Deletes every channel that is not enabled and returns how many were deleted. */
export async function removeDisabledChannels(
  { store, clock }: ChannelChangeDeps,
  call: PersonCall<typeof api.channel.removeDisabled>,
): Promise<number> {
  return store.write(async (trx) => {
    const ids = await deleteDisabledChannels(trx)
    await forgetCapsOf(trx, ids)
    const detail = ids.join(' ')
    await recordAudit(trx, auditEvent(clock, call, 'channel.delete-disabled', `${ids.length} channels`, detail))
    return ids.length
  })
}

/** Returns a function that tells whether a number is a channel type. */
export function knownTypes({ catalogue }: Pick<ChannelChangeDeps, 'catalogue'>): (type: number) => boolean {
  const types = new Set(catalogue().map((entry) => entry.type))
  return (type) => types.has(type)
}
