import type { Clock } from '../../lib/clock.ts'
import { epochSeconds } from '../../lib/clock.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import {
  addStoredResponses,
  findStoredResponses,
  purgeStoredResponses,
  removeStoredResponse,
  type StoredResponse,
} from '../../store/accounts/stored-responses.ts'
import type { Store } from '../../store/store.ts'
import type { Channel } from '../routing/routing-table.ts'
import type { ThreadKeeper } from './threads.ts'

/** How long a service keeps a response (OpenAI docs, "Data controls"). */
const keptSeconds = 30 * 86_400
const purgeSeconds = 3600
/** The maximum number of responses that are written to the database at once, the oldest first. */
const mostAtOnce = 500
/** Ids come from services and become part of URLs, so only safe characters are accepted. */
const idForm = /^[A-Za-z0-9_-]{1,200}$/

/**
 * Finds the owner of each response or conversation that a service stores, and the channel and key with which it is
 * stored.
 */
export interface ResponseOwners {
  /** Remembers a response in memory. `write` stores it in the database. */
  note(userId: number, id: string, channel: Channel, model: string): void
  /** The row that is stored for a response. */
  rowOf(userId: number, id: string, channel: Channel, model: string): StoredResponse
  /**
   * The response with this id if it belongs to the user, `other` if it belongs to somebody else, undefined if it is
   * unknown.
   */
  find(userId: number, id: string): Promise<StoredResponse | 'other' | undefined>
  remove(userId: number, id: string): Promise<void>
  /** The channel and key with which a response is stored; undefined if the channel or the key no longer exists. */
  keeper(
    response: Pick<StoredResponse, 'channel_id' | 'key_hash'>,
    channel: Channel | undefined,
  ): ThreadKeeper | undefined
  /** Writes the remembered responses to the database, and deletes rows that are too old. */
  write(): Promise<void>
}

/** True for something that may be an id of a stored response or conversation. */
export function isStoredId(id: string): boolean {
  return idForm.test(id)
}

/** Keeps the owners in the database, so that all nodes know them. */
export function createResponseOwners(
  store: Store,
  { fingerprint }: Pick<Secrets, 'fingerprint'>,
  clock: Clock,
): ResponseOwners {
  const pending = new Map<string, StoredResponse>()
  let purgedAt = 0
  const keyHash = (key: string) => fingerprint(key, 'stored-response-key')
  const rowOf = (userId: number, id: string, channel: Channel, model: string): StoredResponse => ({
    id,
    user_id: userId,
    channel_id: channel.id,
    key_hash: channel.keyRing ? keyHash(channel.upstream.key) : '',
    model,
    created_at: epochSeconds(clock),
  })
  return {
    rowOf,
    note(userId, id, channel, model) {
      if (isStoredId(id)) pending.set(`${userId} ${id}`, rowOf(userId, id, channel, model))
    },
    async find(userId, id) {
      if (!isStoredId(id)) return undefined
      const noted = pending.get(`${userId} ${id}`)
      if (noted) return noted
      const rows = await findStoredResponses(store.read, id)
      const isOthers = rows.length > 0 || [...pending.values()].some((each) => each.id === id)
      return rows.find((row) => Number(row.user_id) === userId) ?? (isOthers ? 'other' : undefined)
    },
    async remove(userId, id) {
      pending.delete(`${userId} ${id}`)
      await store.write((trx) => removeStoredResponse(trx, id, userId))
    },
    keeper({ channel_id, key_hash }, channel) {
      if (!channel) return undefined
      const key = channel.keyRing
        ? channel.keyRing.live().find((each) => keyHash(each) === key_hash)
        : channel.upstream.key
      return key === undefined ? undefined : { channelId: Number(channel_id), key }
    },
    async write() {
      const rows = [...pending].slice(0, mostAtOnce)
      if (rows.length > 0) {
        await store.write((trx) =>
          addStoredResponses(
            trx,
            rows.map(([, row]) => row),
          ),
        )
        for (const [name] of rows) pending.delete(name)
      }
      const now = epochSeconds(clock)
      if (now - purgedAt < purgeSeconds) return
      purgedAt = now
      await store.write((trx) => purgeStoredResponses(trx, now - keptSeconds))
    },
  }
}
