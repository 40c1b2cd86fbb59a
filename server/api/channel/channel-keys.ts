import type { ChannelKeyHealth } from '../../../contract/api/channel-operations.ts'
import { maxKeys } from '../../../contract/api/channel-operations.ts'
import type { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { PersonCall } from '../../http/serve-endpoint.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { providerOf } from '../../providers/registry.ts'
import { deadKeysOf, forgetDeadKeys, sealedKeys } from '../../store/channels/channel-keys.ts'
import { type ChannelFields, updateChannel } from '../../store/channels/channels.ts'
import { keyLines, keysIn } from '../../store/channels/key-lines.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db, Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'

type KeyDeps = Pick<ApiDeps, 'store' | 'secrets' | 'clock'>

/** The keys in a key field, one per line. */
export function newKeys(text: string): string[] {
  const keys = keyLines(text)
  if (keys.length > maxKeys) throw new ApiFailure(`key may have at most ${maxKeys} lines.`)
  return keys
}

/**
 * Refuses keys that do not have the form that the type requires. The message describes the form and never contains the
 * key.
 */
export function refuseMalformedKeys(type: number, keys: readonly string[]): void {
  const keyFault = providerOf(type)?.keyFault
  for (const [index, key] of keys.entries()) {
    const fault = isSendable(key)
      ? keyFault?.(key)
      : 'The key contains characters that are not allowed in a header. Copy it again.'
    if (fault !== undefined) throw new ApiFailure(keys.length > 1 ? `Line ${index + 1} of the key: ${fault}` : fault)
  }
}

/**
 * Whether a key contains only characters that are allowed in a header. A key may be a JSON file, which is not sent in a
 * header: the gateway derives another key from it. Of such a key, only the text before the file, such as a region, is
 * checked.
 */
function isSendable(key: string): boolean {
  const file = key.indexOf('{')
  const isFile = file >= 0 && isObject(tryParse(key.slice(file)))
  return /^[\t\x20-\x7e]*$/.test(isFile ? key.slice(0, file) : key)
}

/** How several keys are stored in one channel. Duplicate keys are stored once. */
export function manyKeys(secrets: Secrets, lines: readonly string[]): Required<Pick<ChannelFields, KeyColumn>> {
  const keys = [...new Set(lines)]
  return { key: secrets.seal(keys.join('\n'), 'channel'), key_mode: 'multi', key_count: keys.length }
}

type KeyColumn = 'key' | 'key_mode' | 'key_count'

/**
 * The columns that a change of the key writes; none if the key is unchanged. For a channel with one key, the whole text
 * is the key, and only a JSON file may contain line breaks. For a channel with several keys, each line is a key.
 */
export async function changedKeys(
  trx: Trx,
  secrets: Secrets,
  body: PersonCall<typeof api.channel.update>['body'],
): Promise<Pick<ChannelFields, KeyColumn>> {
  const text = body.key?.trim() ?? ''
  if (text === '' && body.key_mode === undefined) return {}
  const before = await sealedKeys(trx, body.id)
  if (!before) return {}
  const mode = body.key_mode ?? before.key_mode
  if (text === '' && mode === before.key_mode) return {}
  const old = text === '' || body.key_append ? secrets.open(before.key, 'channel') : ''
  if (mode === 'single') {
    if (text === '' && keyLines(old).length > 1) throw new ApiFailure('Send the one key that the channel should keep.')
    return { key: secrets.seal(text || old, 'channel'), key_mode: 'single', key_count: 1 }
  }
  return manyKeys(secrets, newKeys(body.key_append || text === '' ? `${old}\n${text}` : text))
}

/** Deletes the health records of keys that the channel no longer has. */
export async function forgetOldKeys(trx: Trx, secrets: Secrets, id: number): Promise<void> {
  const present = new Set((await keysWithHash(trx, secrets, id)).map(({ hash }) => hash))
  const gone = (await deadKeysOf(trx, id)).map((dead) => dead.key_hash).filter((hash) => !present.has(hash))
  if (gone.length > 0) await forgetDeadKeys(trx, id, gone)
}

/** The health of every key in order, without the keys themselves. */
export async function keyHealth(db: Db, secrets: Secrets, id: number): Promise<ChannelKeyHealth[]> {
  const dead = new Map((await deadKeysOf(db, id)).map((each) => [each.key_hash, each]))
  return (await keysWithHash(db, secrets, id)).map(({ hash }, index) => {
    const deadKey = dead.get(hash)
    return { index: index + 1, healthy: !deadKey, reason: deadKey?.reason ?? '', since: deadKey?.since ?? 0 }
  })
}

/** Deletes the paused keys, and returns how many were deleted. At least one key must remain. */
export async function removeDead(
  { store, secrets, clock }: KeyDeps,
  call: PersonCall<typeof api.channel.removeDeadKeys>,
): Promise<number> {
  const { id } = call.params
  return store.write(async (trx) => {
    // `keysWithHash` locks the channel, so that no other transaction can pause a key until this one ends.
    const keys = await keysWithHash(trx, secrets, id)
    const dead = new Set((await deadKeysOf(trx, id)).map((each) => each.key_hash))
    const live = keys.filter(({ hash }) => !dead.has(hash)).map(({ key }) => key)
    const gone = keys.map(({ hash }) => hash).filter((hash) => dead.has(hash))
    const removed = gone.length
    if (removed === 0) return 0
    if (live.length === 0) throw new ApiFailure('All keys of this channel are paused. Add a new one first.')
    await updateChannel(trx, id, manyKeys(secrets, live))
    await forgetDeadKeys(trx, id, gone)
    await recordAudit(trx, auditEvent(clock, call, 'channel.remove-dead-keys', `channel ${id}`, `${removed} keys`))
    return removed
  })
}

/** Reactivates the paused keys, and returns how many there were. */
export async function reviveDead(
  { store, clock }: KeyDeps,
  call: PersonCall<typeof api.channel.reviveKeys>,
): Promise<number> {
  const { id } = call.params
  return store.write(async (trx) => {
    if (!(await sealedKeys(trx, id))) throw new ApiFailure('Channel not found.')
    const revived = await forgetDeadKeys(trx, id)
    await recordAudit(trx, auditEvent(clock, call, 'channel.revive-keys', `channel ${id}`, `${revived} keys`))
    return revived
  })
}

/** Decrypts the keys of a channel, either as stored or as a change is about to store them. */
export async function openKeys(
  db: Db,
  secrets: Secrets,
  id: number,
  changed: Pick<ChannelFields, KeyColumn> = {},
): Promise<string[]> {
  const stored = await sealedKeys(db, id)
  if (!stored) throw new ApiFailure('Channel not found.')
  const row = { ...stored, ...changed }
  let text: string
  try {
    text = secrets.open(row.key, 'channel')
  } catch {
    throw new ApiFailure('The key of this channel cannot be decrypted. Save it again.')
  }
  return keysIn(text, row.key_mode)
}

async function keysWithHash(db: Db, secrets: Secrets, id: number): Promise<{ key: string; hash: string }[]> {
  const keys = await openKeys(db, secrets, id)
  return keys.map((key) => ({ key, hash: secrets.fingerprint(key, 'channel-key') }))
}
