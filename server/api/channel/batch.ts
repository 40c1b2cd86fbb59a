import type { api } from '../../../contract/api/index.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { splitList } from '../../lib/split-list.ts'
import { copyChannel } from '../../store/channels/channel-copy.ts'
import { forgetDeadKeys } from '../../store/channels/channel-keys.ts'
import {
  type ChannelFields,
  type ChannelRow,
  channelById,
  deleteChannel,
  lockChannel,
  setChannelStatus,
  updateChannel,
} from '../../store/channels/channels.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { forgetCapsOf } from '../../store/ledger/caps.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent, describeChange } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { AbilityLimit } from './ability-limit.ts'
import { parseModels } from './channel-input.ts'

type Deps = Pick<ApiDeps, 'store' | 'clock'>
type Batch = PersonCall<typeof api.channel.batch>

/**
 * Changes many channels in the same way, either all of them or none. Skips ids that no longer exist. Returns the number
 * of changed channels.
 */
export async function changeBatch({ store, clock }: Deps, call: Batch): Promise<number> {
  const { action } = call.body
  const fields = batchFields(call.body)
  // Channels are always locked in the order of their ids, so that two batches cannot deadlock.
  const ids = [...new Set(call.body.ids)].sort((a, b) => a - b)
  return store.write(async (trx) => {
    /** Maps a description of a change to the ids of the channels that were changed in this way. */
    const changes = new Map<string, number[]>()
    const limit = new AbilityLimit()
    let count = 0
    for (const id of ids) {
      const channel = await lockChannel(trx, id)
      if (!channel) continue
      if (fields.models !== undefined || fields.group !== undefined) limit.take({ ...channel, ...fields })
      await changeOne(trx, { id, status: channel.status }, action, fields)
      const change = describeOne(channel, action, fields)
      changes.set(change, [...(changes.get(change) ?? []), id])
      count++
    }
    const detail = [...changes].map(([change, of]) => `${change} (${of.join(' ')})`.trim()).join('; ')
    await recordAudit(trx, auditEvent(clock, call, `channel.batch-${action}`, `${count} channels`, detail))
    return count
  })
}

function describeOne(channel: ChannelRow, action: Batch['body']['action'], fields: ChannelFields): string {
  if (action === 'delete') return JSON.stringify(channel.name)
  const status = { enable: channelStatus.enabled, disable: channelStatus.disabled, edit: channel.status }[action]
  const written = { ...fields, status }
  return describeChange(channel, written, Object.keys(written))
}

async function changeOne(
  trx: Trx,
  channel: { id: number; status: number },
  action: Batch['body']['action'],
  fields: ChannelFields,
): Promise<void> {
  switch (action) {
    case 'enable':
      return enableByHand(trx, channel)
    case 'disable':
      return setChannelStatus(trx, channel.id, channelStatus.disabled)
    case 'delete':
      await deleteChannel(trx, channel.id)
      await forgetCapsOf(trx, [channel.id])
      return
    case 'edit':
      return updateChannel(trx, channel.id, fields)
  }
}

/**
 * Enables a channel. All of its keys are tried again, because a person who enables a channel by hand has checked them.
 */
async function enableByHand(trx: Trx, channel: { id: number; status: number }): Promise<void> {
  if (channel.status === channelStatus.enabled) return
  await forgetDeadKeys(trx, channel.id)
  await setChannelStatus(trx, channel.id, channelStatus.enabled)
}

function batchFields({ action, priority, weight, models, group }: Batch['body']): ChannelFields {
  const fields: ChannelFields = {}
  if (priority !== undefined) fields.priority = priority
  if (weight !== undefined) fields.weight = weight
  if (models !== undefined) fields.models = parseModels(models)
  if (group !== undefined) fields.group = splitList(group).join(',') || 'default'
  const isEmpty = Object.keys(fields).length === 0
  if (action === 'edit' && isEmpty) throw new ApiFailure('Send at least one of priority, weight, models and group.')
  if (action !== 'edit' && !isEmpty) throw new ApiFailure('Only the action edit can change fields.')
  return fields
}

/** Copies an existing channel and returns the copy's id. */
export async function copyOne({ store, clock }: Deps, call: PersonCall<typeof api.channel.copy>): Promise<number> {
  const { id } = call.params
  return store.write(async (trx) => {
    const from = await channelById(trx, id)
    const name = call.body.name || copyName(from?.name ?? '')
    const copyId = await copyChannel(trx, id, { name, now: epochSeconds(clock) })
    if (copyId === undefined) throw new ApiFailure('Channel not found.')
    await recordAudit(trx, auditEvent(clock, call, 'channel.copy', `channel ${copyId}`, `of channel ${id}`))
    return copyId
  })
}

/** The default name of a copy. It is truncated, because names may have at most 100 characters. */
function copyName(name: string): string {
  return `${[...name].slice(0, 93).join('')} (copy)`
}
