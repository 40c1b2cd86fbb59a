import { beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../../test/helpers/accounts.ts'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import type { Store, Trx } from '../store.ts'
import { createLogReader, type LogReader } from './log-tail.ts'

forEachDatabase((name, openFresh) => {
  let store: Store
  let nowMs: number
  beforeEach(async () => {
    store = await openFresh()
    nowMs = 5000
  })

  const add = (trx: Trx, ...quotas: number[]) =>
    trx
      .insertInto('logs')
      .values(quotas.map((quota) => ({ ...logRow({ userId: 1, tokenId: 1, channelId: 1 }), quota })))
      .execute()
  const write = (...quotas: number[]) => store.write((trx) => add(trx, ...quotas))
  const next = async (reader: LogReader, limit = 100) => (await reader.next(limit)).map(({ quota }) => quota)
  async function started(): Promise<LogReader> {
    const reader = createLogReader(store, () => nowMs)
    expect(await next(reader)).toEqual([])
    return reader
  }

  test('each row that is written after the reader began is returned once, in order', async () => {
    await write(1, 2)
    const reader = await started()
    expect(await next(reader)).toEqual([])
    await write(3)
    expect(await next(reader)).toEqual([3])
    expect(await next(reader)).toEqual([])
    await write(4, 5)
    expect(await next(reader)).toEqual([4, 5])
    expect(await next(reader)).toEqual([])
  })

  test('a reader that began when the log was empty returns the first rows', async () => {
    const reader = await started()
    await write(1)
    expect(await next(reader)).toEqual([1])
  })

  test('if there are more new rows than the limit, the following calls of `next` return the rest', async () => {
    const reader = await started()
    await write(1, 2, 3, 4, 5)
    expect([await next(reader, 2), await next(reader, 2), await next(reader, 2)]).toEqual([[1, 2], [3, 4], [5]])
  })

  if (name !== 'postgres') return

  /** Begins a transaction that takes the next id. Its row becomes visible when the returned function is called. */
  async function slowRow(quota: number): Promise<() => Promise<void>> {
    const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = store.write(async (trx) => {
      await add(trx, quota)
      written.resolve()
      await mayCommit.promise
    })
    await written.promise
    return () => {
      mayCommit.resolve()
      return done
    }
  }

  test('a row that is committed up to ten seconds after rows with higher ids is returned once', async () => {
    const reader = await started()
    const commit = await slowRow(1)
    await write(2)
    expect(await next(reader)).toEqual([2])
    nowMs += 10_000
    expect(await next(reader)).toEqual([])
    await commit()
    await write(3)
    expect(await next(reader)).toEqual([1, 3])
    expect(await next(reader)).toEqual([])
  })

  test('a row whose transaction was open when the reader began is returned after the commit', async () => {
    await write(1)
    const commit = await slowRow(2)
    await write(3)
    const reader = await started()
    await commit()
    expect(await next(reader)).toEqual([2])
  })

  test('a row that is committed more than ten seconds after rows with higher ids is not returned', async () => {
    const reader = await started()
    const commit = await slowRow(1)
    await write(2)
    expect(await next(reader)).toEqual([2])
    nowMs += 10_001
    expect(await next(reader)).toEqual([])
    await commit()
    expect(await next(reader)).toEqual([])
  })
})
