import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logType } from '../../../contract/log-types.ts'
import { type Account, addAccount, logRow } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import type { LogRow } from '../../store/schema/ledger-types.ts'
import type { Store } from '../../store/store.ts'
import { createFailedCallLog, type FailedCallLog } from './failed-calls.ts'

forEachDatabase((kind, openFresh) => {
  let store: Store
  let account: Account
  let log: FailedCallLog
  let lost: number
  let warnings: string[]

  beforeEach(async () => {
    store = await openFresh()
    account = await addAccount(store, { user: 0 })
    lost = 0
    warnings = []
    log = createFailedCallLog({
      store,
      clock: { nowMs: () => 1_700_000_000_000 },
      lost: (calls) => {
        lost += calls
      },
      warn: (message) => void warnings.push(message),
    })
  })
  afterEach(() => store.close())

  const note = (code: string, requestId: string, fields: Partial<LogRow> = {}) =>
    log.note({ tokenId: account.tokenId, code, beganAtMs: 1_700_000_000_000 }, () =>
      logRow(account, { type: logType.error, code, request_id: requestId, ...fields }),
    )
  const written = async () => {
    const rows = await store.read.selectFrom('logs').select(['request_id', 'left_out']).orderBy('request_id').execute()
    return rows.map(({ request_id, left_out }) => (left_out > 0 ? `${request_id}+${left_out}` : request_id))
  }
  /** A value that the column rejects in every database. */
  const refused = { model_name: null as unknown as string }

  test('a row that the database rejects is dropped, and all others are written', async () => {
    note('a', 'a1')
    note('a', 'a2', refused)
    note('a', 'a3')
    note('b', 'b1', refused)
    note('c', 'c1')
    await log.close()
    expect(await written()).toEqual(['a1', 'a3', 'c1'])
    expect(lost).toBe(2)
    expect(warnings.length).toBe(1)
  })

  test('if the database rejects a shared row, all calls in that row are lost', async () => {
    for (let at = 0; at < 100; at++) note('a', 'own')
    for (let at = 0; at < 3; at++) note('a', 'shared', refused)
    note('b', 'b1')
    await log.close()
    const rows = await written()
    expect(rows).toHaveLength(101)
    expect(rows).not.toContain('shared')
    expect(lost).toBe(3)
  })

  if (kind === 'postgres')
    test('a row with a NUL character is dropped and does not block other rows', async () => {
      note('a', 'a1', { model_name: 'x\0' })
      note('b', 'b1')
      await log.close()
      expect(await written()).toEqual(['b1'])
      expect(lost).toBe(1)
    })
})
