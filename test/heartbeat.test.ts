// If a process has no heartbeat, other nodes close its calls. So a live process must keep its heartbeat in every state
// of its database.
import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { sql } from 'kysely'
import { openStore } from '../server/store/connection/open.ts'
import { migrate } from '../server/store/migrations/migrate.ts'
import type { Store } from '../server/store/store.ts'
import { networkTo } from './helpers/bad-network.ts'
import { newPostgresDatabase, postgresMissing, type TestDatabase } from './helpers/postgres.ts'
import { openServerDatabase } from './helpers/server-database.ts'
import { startTestGateway } from './helpers/test-gateway.ts'
import { until } from './relay/setup.ts'

const isListed = async ({ read }: Store) => (await read.selectFrom('nodes').select('id').execute()).length > 0

/** Deletes all nodes, as another node does with a node that it considers dead. */
const takeOff = ({ write }: Store) => write((trx) => trx.deleteFrom('nodes').execute())

/** A network path to PostgreSQL that can drop everything sent on the current connections, without closing them. */
async function lossyNetwork(databaseUrl: string) {
  const open = new Set<Socket>()
  let lost = new Set<Socket>()
  const network = await networkTo(databaseUrl, (near, far) => {
    open.add(near)
    near.on('data', (bytes) => lost.has(near) || far.write(bytes))
    far.on('data', (bytes) => lost.has(near) || near.write(bytes))
    near.on('close', () => {
      open.delete(near)
      far.destroy()
    })
  })
  return {
    ...network,
    loseAll() {
      lost = new Set(open)
    },
    /** Closes the lost connections, as the operating system does eventually. */
    closeLost() {
      for (const socket of lost) socket.destroy()
    },
  }
}

function postgresTest(name: string, work: (database: TestDatabase) => Promise<void>): void {
  if (postgresMissing !== undefined) test.skip(`${name} (${postgresMissing})`, () => undefined)
  else
    test(name, async () => {
      await using database = await newPostgresDatabase()
      await work(database)
    }, 120_000)
}

postgresTest('postgres: the heartbeat goes on while a start takes long', async ({ url }) => {
  const other = openStore({ url })
  await migrate(other)
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const { promise: isOver, resolve: goOn } = Promise.withResolvers<void>()
  // Locks the table of logs, so that the gateway waits at its start as if counting many rows took long.
  const locking = other.write(async (trx) => {
    await sql`lock table logs in access exclusive mode`.execute(trx)
    locked()
    await isOver
  })
  await isLocked
  const starting = startTestGateway({ databaseUrl: url })
  await until(() => isListed(other))
  await takeOff(other)
  await until(() => isListed(other))
  await takeOff(other)
  goOn()
  await locking
  const gateway = await starting
  expect(await isListed(other)).toBe(true)
  await gateway.close()
  await other.close()
})

postgresTest('postgres: a connection that hangs is given up, and the next heartbeat has another', async ({ url }) => {
  const other = openStore({ url })
  await using network = await lossyNetwork(url)
  const gateway = await startTestGateway({ databaseUrl: network.url })
  network.loseAll()
  await takeOff(other)
  await until(() => isListed(other))
  network.closeLost()
  await gateway.close()
  await other.close()
})

test('a process whose heartbeat hangs without an error reports that it is not ready', async () => {
  const time = { ms: Date.now() }
  await using gateway = await startTestGateway({ clock: { nowMs: () => time.ms } })
  const ready = () => fetch(`${gateway.url}/readyz`).then((response) => response.status)
  expect(await ready()).toBe(200)
  using locking = openServerDatabase(gateway.config.databaseUrl)
  locking.run('BEGIN IMMEDIATE')
  time.ms += 14_999
  expect(await ready()).toBe(200)
  time.ms += 1
  expect(await ready()).toBe(503)
  locking.run('ROLLBACK')
  await until(async () => (await ready()) === 200)
}, 120_000)
