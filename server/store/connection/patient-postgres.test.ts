import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import { postgresMissing, postgresServer } from '../../../test/helpers/postgres.ts'
import { PatientClient, PatientPool } from './patient-postgres.ts'

const patience = { connectLimitMs: 5_000, queryLimitMs: 300 }
let pool: PatientPool
let silent: Server

beforeAll(async () => {
  if (postgresMissing !== undefined) return
  pool = new PatientPool({ connectionString: await postgresServer(), max: 1, ...patience })
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  silent = createServer(() => undefined)
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  await pool?.end()
  silent?.close()
})

const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error) => error.message,
  )

/** Blocks this process as if it were stopped. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe.skipIf(postgresMissing !== undefined)(`the limits of PostgreSQL ${postgresMissing ?? ''}`, () => {
  test('a query that takes longer than its limit fails, and the next query gets a new connection', async () => {
    expect(await messageOf(pool.query('select pg_sleep(5)'))).toBe('Query read timeout')
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    const own = { text: 'select pg_sleep(5)', limitMs: 50 }
    expect(await messageOf(pool.query(own))).toBe('Query read timeout')
    const client = await pool.connect()
    expect(await messageOf(client.query('select pg_sleep(5)'))).toBe('Query read timeout')
    client.release()
    expect((await pool.query('select 2 as two')).rows).toEqual([{ two: 2 }])
  })

  test('a time limit does not include time during which the process does not run', async () => {
    const client = await pool.connect()
    const asked = [pool.query('select 3'), client.query('select pg_sleep(0.1)')]
    await Bun.sleep(20)
    block(1_500)
    expect(await messageOf(asked[1] as Promise<unknown>)).toBe('done')
    client.release()
    expect(await messageOf(asked[0] as Promise<unknown>)).toBe('done')
  })

  test('a caller who waits too long for a free connection gets an error, and the connection goes to the next caller', async () => {
    const short = new PatientPool({
      connectionString: await postgresServer(),
      max: 1,
      ...patience,
      // This is long enough for a slow machine to open the one connection.
      connectLimitMs: 2000,
    })
    const client = await short.connect()
    expect(await messageOf(short.query('select 1'))).toBe('timeout exceeded when trying to connect')
    client.release()
    expect(await messageOf(short.query('select 1'))).toBe('done')
    await short.end()
  })

  test('thousands of callers who gave up waiting are removed, and the pool continues to work', async () => {
    const short = new PatientPool({
      connectionString: await postgresServer(),
      max: 1,
      ...patience,
      connectLimitMs: 2000,
    })
    const client = await short.connect()
    const waits = Array.from({ length: 20_000 }, () => messageOf(short.query('select 1')))
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['timeout exceeded when trying to connect']))
    expect(short.waitingCount).toBe(0)
    client.release()
    expect(await messageOf(short.query('select 1'))).toBe('done')
    await short.end()
  })

  test('a connection to a server that does not respond is given up', async () => {
    const { port } = silent.address() as { port: number }
    const client = new PatientClient({ host: '127.0.0.1', port, ...patience, connectLimitMs: 100 })
    client.on('error', () => undefined)
    expect(await messageOf(client.connect())).toBe('timeout expired')
  })
})
