import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pg from 'pg'
import { type FakeUpstream, ok, startFakeUpstream } from './helpers/fake-upstream.ts'
import { newPostgresDatabase, postgresMissing, postgresServer, type TestDatabase } from './helpers/postgres.ts'
import { startTestGateway, type TestGateway } from './helpers/test-gateway.ts'
import { until } from './relay/setup.ts'

if (postgresMissing !== undefined) test.skip(`notices between nodes (${postgresMissing})`, () => undefined)
else
  describe('postgres: nodes are notified of changes', () => {
    let upstream: FakeUpstream
    let database: TestDatabase
    let admin: pg.Client
    let near: TestGateway
    let far: TestGateway
    let channelId: number
    /** The ids of the database backends that listen for the second node. */
    let farListeners: () => Promise<number[]>

    beforeAll(async () => {
      await postgresServer()
      upstream = await startFakeUpstream()
      upstream.always(ok())
      database = await newPostgresDatabase()
      admin = new pg.Client({ connectionString: database.url })
      await admin.connect()
      const listeners = async (): Promise<number[]> => {
        const { rows } = await admin.query<{ pid: number }>(
          "select pid from pg_stat_activity where datname = current_database() and application_name = 'tollgate listener' and query <> ''",
        )
        return rows.map(({ pid }) => pid)
      }
      near = await startTestGateway({ databaseUrl: database.url })
      await until(async () => (await listeners()).length === 1)
      const nears = await listeners()
      far = await startTestGateway({ databaseUrl: database.url })
      farListeners = async () => (await listeners()).filter((pid) => !nears.includes(pid))
      await until(async () => (await farListeners()).length === 1)
      await near.setOption('ModelRatio', '{"m":1,"m2":1,"m3":1,"m4":1}')
      channelId = await near.addChannel({ base_url: upstream.url, models: 'm' })
    }, 120_000)
    afterAll(async () => {
      await far.close()
      await near.close()
      await admin.end()
      await database.drop()
      await upstream.close()
    }, 120_000)

    const serves = async (gateway: TestGateway, model: string) => {
      const messages = [{ role: 'user', content: 'Hi' }]
      const { status } = await gateway.post('/v1/chat/completions', { model, messages })
      return status === 200
    }
    /** Changes the database without the management API, so that no node is notified. */
    const changeDirectly = async (models: string) => {
      await admin.query('update channels set models = $1 where id = $2', [models, channelId])
      await admin.query('delete from abilities where channel_id = $1', [channelId])
      for (const model of models.split(','))
        await admin.query(
          `insert into abilities ("group", model, channel_id, enabled, priority) values ('default', $1, $2, true, 0)`,
          [model, channelId],
        )
    }

    test('a change on one node takes effect on the other', async () => {
      await until(() => serves(far, 'm'))
    })

    test('a node whose connection is cut reloads everything each time it has reconnected', async () => {
      for (const model of ['m2', 'm3']) {
        const before = await farListeners()
        expect(before).toHaveLength(1)
        await admin.query('select pg_terminate_backend($1)', [before[0]])
        await changeDirectly(`m,${model}`)
        await near.setOption('SystemName', `named with ${model}`)
        await until(() => serves(far, model))
        await until(async () =>
          (await far.api<{ system_name: string }>('GET', '/api/status')).system_name.endsWith(model),
        )
        await until(async () => (await farListeners()).length === 1)
        expect(await farListeners()).not.toEqual(before)
      }
      await near.api('PUT', '/api/channel/', { id: channelId, models: 'm' })
      await until(async () => !(await serves(far, 'm3')))
    }, 120_000)

    test('after a long database outage there is exactly one listener, and it works', async () => {
      const name = new URL(database.url).pathname.slice(1)
      const server = new pg.Client({ connectionString: await postgresServer() })
      await server.connect()
      await server.query(`alter database ${name} with allow_connections false`)
      const pids = await farListeners()
      await server.query('select pg_terminate_backend($1)', [pids[0]])
      const refusedBefore = Date.now()
      // Waits long enough for several failed attempts to connect.
      await until(() => Date.now() - refusedBefore > 3500)
      await server.query(`alter database ${name} with allow_connections true`)
      await server.end()
      await until(async () => (await farListeners()).length === 1, 100_000)
      await near.setOption('SystemName', 'after the absence')
      await until(
        async () => (await far.api<{ system_name: string }>('GET', '/api/status')).system_name === 'after the absence',
      )
      expect(await farListeners()).toHaveLength(1)
    }, 120_000)

    test('every node notices a change without a notification after a short time', async () => {
      await changeDirectly('m,m4')
      await admin.query(`update options set value = 'told by nobody' where key = 'SystemName'`)
      for (const gateway of [near, far]) {
        await until(() => serves(gateway, 'm4'), 100_000)
        const named = () => gateway.api<{ system_name: string }>('GET', '/api/status')
        await until(async () => (await named()).system_name === 'told by nobody', 100_000)
      }
    }, 120_000)

    test('an invalid notification is ignored', async () => {
      await admin.query("select pg_notify('tollgate', 'no JSON')")
      await admin.query("select pg_notify('tollgate', 'null')")
      await near.setOption('SystemName', 'still there')
      await until(
        async () => (await far.api<{ system_name: string }>('GET', '/api/status')).system_name === 'still there',
      )
    })
  })
