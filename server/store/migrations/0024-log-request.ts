import type { Migration } from '../migration.ts'
import { installLedger } from './ledger-function.ts'

/**
 * Details of the request of each call: its endpoint, its dialects, its parameters and its client. Older rows have null.
 */
export const logRequest: Migration = {
  name: '0024-log-request',
  async up(db, dialect) {
    await db.schema.alterTable('logs').addColumn('request', 'text').execute()
    if (dialect === 'postgres') await installLedger(db)
  },
}
