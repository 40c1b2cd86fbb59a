import { sql } from 'kysely'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { storedKeyHash } from '../../lib/secrets/token-key.ts'
import { keyLines } from '../channels/key-lines.ts'
import { sealedCarries } from '../channels/stored-carries.ts'
import type { Store, Trx } from '../store.ts'

/**
 * The contexts (purposes) with which columns are encrypted, for those columns whose context is defined outside the
 * store.
 */
export interface SealContexts {
  option(key: string): string
  alertDestination: string
}

export interface ResealOptions {
  from: Secrets
  to: Secrets
  contexts: SealContexts
  dialect: Store['dialect']
}

/** The effects of changing the secret key. */
export interface Resealed {
  tokens: number
  channels: number
  options: number
  alertDestinations: number
  /**
   * The numbers of sessions and access tokens that ended. They cannot be kept, because only keyed hashes of them are
   * stored.
   */
  endedSessions: number
  endedAccessTokens: number
  /** Rows that could not be decrypted even with the old key, such as "token 7". They are unchanged. */
  unreadable: string[]
}

const batchRows = 500

/**
 * Encrypts everything in the database with another secret key. Keyed hashes are calculated again if the plain text is
 * also stored encrypted. Sessions, access tokens, one-time codes and upstream tokens end. The sources of imports are
 * deleted.
 */
export async function resealRows(trx: Trx, options: ResealOptions): Promise<Resealed> {
  const unreadable: string[] = []
  const reseal = (sealed: string, context: string, name: string): { plain: string; sealed: string } | undefined => {
    try {
      const plain = options.from.open(sealed, context)
      return { plain, sealed: options.to.seal(plain, context) }
    } catch {
      unreadable.push(name)
      return undefined
    }
  }
  // With `secure_delete`, SQLite overwrites the old texts and hashes in the file.
  const isSqlite = options.dialect === 'sqlite'
  if (isSqlite) await sql`pragma secure_delete = on`.execute(trx)
  const report = {
    tokens: await resealTokens(trx, options, reseal),
    channels: await resealChannels(trx, options, reseal),
    options: await resealOptions(trx, options, reseal),
    alertDestinations: await resealDestinations(trx, options, reseal),
    ...(await endUnknown(trx)),
  }
  if (isSqlite) await sql`pragma secure_delete = off`.execute(trx)
  return { ...report, unreadable }
}

type Reseal = (sealed: string, context: string, name: string) => { plain: string; sealed: string } | undefined

async function resealTokens(trx: Trx, { to }: ResealOptions, reseal: Reseal): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const rows = await trx
      .selectFrom('tokens')
      .select(['id', 'key', 'old_key'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(batchRows)
      .execute()
    const last = rows.at(-1)
    if (!last) return count
    after = last.id
    for (const { id, key, old_key } of rows) {
      const old = old_key === '' ? undefined : reseal(old_key, 'token', `old key of token ${id}`)
      if (old) {
        const old_key_hash = storedKeyHash(old.plain, to)
        await trx.updateTable('tokens').set({ old_key: old.sealed, old_key_hash }).where('id', '=', id).execute()
      }
      const changed = reseal(key, 'token', `token ${id}`)
      if (!changed) continue
      const key_hash = storedKeyHash(changed.plain, to)
      await trx.updateTable('tokens').set({ key: changed.sealed, key_hash }).where('id', '=', id).execute()
      count++
    }
  }
}

async function resealChannels(trx: Trx, options: ResealOptions, reseal: Reseal): Promise<number> {
  const rows = await trx.selectFrom('channels').select(['id', 'key', 'headers', 'proxy_login']).orderBy('id').execute()
  let count = 0
  for (const { id, key, ...carries } of rows) {
    for (const [name, context] of Object.entries(sealedCarries) as [keyof typeof sealedCarries, string][]) {
      const changed = carries[name] === '' ? undefined : reseal(carries[name], context, `${name} of channel ${id}`)
      if (changed)
        await trx
          .updateTable('channels')
          .set({ [name]: changed.sealed })
          .where('id', '=', id)
          .execute()
    }
    const changed = reseal(key, 'channel', `key of channel ${id}`)
    if (!changed) continue
    await trx.updateTable('channels').set({ key: changed.sealed }).where('id', '=', id).execute()
    for (const line of new Set([changed.plain, ...keyLines(changed.plain)])) await renameKey(trx, options, id, line)
    count++
  }
  return count
}

/** Replaces the keyed hash of a channel's key in all tables that identify the key by its hash. */
async function renameKey(trx: Trx, { from, to }: ResealOptions, channelId: number, key: string): Promise<void> {
  const before = from.fingerprint(key, 'channel-key')
  const after = to.fingerprint(key, 'channel-key')
  for (const [table, purpose] of [
    ['channel_dead_keys', 'channel-key'],
    ['stored_responses', 'stored-response-key'],
    ['background_jobs', 'stored-response-key'],
  ] as const)
    await trx
      .updateTable(table)
      .set({ key_hash: to.fingerprint(key, purpose) })
      .where('channel_id', '=', channelId)
      .where('key_hash', '=', from.fingerprint(key, purpose))
      .execute()
  const capIds = trx.selectFrom('caps').select('id').where('owner_id', '=', channelId)
  for (const table of ['cap_counts', 'cap_places', 'cap_waits'] as const)
    await trx.updateTable(table).set({ part: after }).where('part', '=', before).where('cap_id', 'in', capIds).execute()
}

async function resealOptions(trx: Trx, { contexts }: ResealOptions, reseal: Reseal): Promise<number> {
  const rows = await trx
    .selectFrom('options')
    .select(['key', 'value'])
    .where('sealed', '=', sql<boolean>`true`)
    .execute()
  let count = 0
  for (const { key, value } of rows) {
    const changed = value === '' ? undefined : reseal(value, contexts.option(key), `option ${key}`)
    if (!changed) continue
    await trx.updateTable('options').set({ value: changed.sealed }).where('key', '=', key).execute()
    count++
  }
  return count
}

async function resealDestinations(trx: Trx, { contexts }: ResealOptions, reseal: Reseal): Promise<number> {
  const rows = await trx.selectFrom('alert_destinations').select(['id', 'address']).execute()
  let count = 0
  for (const { id, address } of rows) {
    const changed = address === '' ? undefined : reseal(address, contexts.alertDestination, `alert destination ${id}`)
    if (!changed) continue
    await trx.updateTable('alert_destinations').set({ address: changed.sealed }).where('id', '=', id).execute()
    count++
  }
  return count
}

async function endUnknown(trx: Trx): Promise<Pick<Resealed, 'endedSessions' | 'endedAccessTokens'>> {
  const sessions = await trx.deleteFrom('sessions').executeTakeFirst()
  const users = await trx
    .updateTable('users')
    .set({ access_token_hash: null })
    .where('access_token_hash', 'is not', null)
    .executeTakeFirst()
  await trx.deleteFrom('one_time_codes').execute()
  await trx.deleteFrom('access_tokens').execute()
  await trx.updateTable('import_runs').set({ sealed: '' }).execute()
  return { endedSessions: Number(sessions.numDeletedRows), endedAccessTokens: Number(users.numUpdatedRows) }
}
