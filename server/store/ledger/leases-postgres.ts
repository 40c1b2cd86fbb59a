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
    forget: (id) => book.remove(id),
  }
}
