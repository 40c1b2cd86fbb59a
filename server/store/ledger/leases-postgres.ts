import type pg from 'pg'
import type { LeaseStore } from '../schema/ledger-types.ts'
import type { LeaseBook } from './lease-book-postgres.ts'

/** Leases on PostgreSQL. */
export function leaseStore(pool: pg.Pool, book: LeaseBook): LeaseStore {
  return {
    async take({ id, nodeId, userId, tokenId, share, most, least }) {
      const { rows } = await pool.query<{ taken: string | null }>({
        name: 'lease-take',
        text: 'select taken from tollgate_lease_take($1, $2, $3, $4, $5, $6, $7)',
        values: [id, nodeId, userId, tokenId, share, most, least],
      })
      const taken = rows[0]?.taken ?? null
      if (taken === null) return undefined
      book.add(id)
      return Number(taken)
    },
    async giveBack({ id, userId, tokenId }) {
      await pool.query({
        name: 'lease-return',
        text: 'select returned from tollgate_lease_return($1, $2, $3)',
        values: [id, userId, tokenId],
      })
      book.remove(id)
    },
    async isLeased(userId) {
      const { rowCount } = await pool.query('select 1 from leases where user_id = $1 limit 1', [userId])
      return (rowCount ?? 0) > 0
    },
  }
}
