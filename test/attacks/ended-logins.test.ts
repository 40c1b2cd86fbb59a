// Requests whose login ends while they run: they are admitted before a reset, a ban or a demotion, but would write
// after it.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { createOneTimeCodes } from '../../server/api/one-time-codes.ts'
import { lockUser } from '../../server/store/accounts/users.ts'
import type { Db, Store } from '../../server/store/store.ts'
import { createTestApi, type TestApi } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { untilOneWaits } from '../helpers/waiting.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

type Request = [method: string, path: string, body?: unknown]
type Login = { cookie: string } | { as: string }
type Answer = ReturnType<TestApi['call']>

const ownWrites: Request[] = [
  ['PUT', '/api/user/self', { password: 'chosen by a thief' }],
  ['PUT', '/api/user/self', { display_name: 'thief' }],
  ['GET', '/api/user/token'],
  ['DELETE', '/api/user/self'],
]

forEachDatabase((name, openFresh) => {
  let store: Store
  let set: Scene
  let person: Attacker
  let root: Attacker

  beforeEach(async () => {
    store = await openFresh()
    set = await scene(store)
    root = await set.person(100)
  })
  afterEach(() => store.close())

  /** Both ways of being logged in (session cookie and access token), each with a new user. */
  async function* eachLogin(role = 1): AsyncGenerator<Login> {
    person = await set.person(role)
    yield { cookie: await set.session(person) }
    person = await set.person(role)
    yield { as: person.token }
  }

  const send = (api: TestApi, login: Login, [method, path, body]: Request): Answer =>
    api.call(method, path, { ...login, ...(body !== undefined && { body }) })

  async function everything(db: Db) {
    const users = await db.selectFrom('users').selectAll().orderBy('id').execute()
    const sessions = await db.selectFrom('sessions').selectAll().orderBy('id_hash').execute()
    const events = await db.selectFrom('audit_events').selectAll().orderBy('id').execute()
    return { users, sessions, events }
  }

  /** Sends a request while another transaction is paused between its work and its commit. */
  async function meanwhile(stand: (store: Store) => Promise<unknown>, request: (api: TestApi) => Answer) {
    const stands = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const writes = Promise.withResolvers<void>()
    let left: Awaited<ReturnType<typeof everything>> | undefined
    const standing = stand({
      ...store,
      write: (work) =>
        store.write(async (trx) => {
          const result = await work(trx)
          left = await everything(trx)
          stands.resolve()
          await mayEnd.promise
          return result
        }),
    })
    await Promise.race([stands.promise, standing])
    const late = await createTestApi({
      ...store,
      write(work) {
        writes.resolve()
        return store.write(work)
      },
    })
    const answer = request(late)
    await Promise.race([writes.promise.then(() => untilOneWaits(store)), answer])
    mayEnd.resolve()
    await standing
    return { answer: await answer, left }
  }

  /**
   * Checks that a request that was admitted before `ending` but writes after it gets the same response as one sent
   * later, and writes nothing.
   */
  async function tooLate(login: Login, request: Request, ending: (api: TestApi) => Answer): Promise<void> {
    const { answer, left } = await meanwhile(
      async (slow) => expect((await ending(await createTestApi(slow))).json.success).toBe(true),
      (late) => send(late, login, request),
    )
    const after = await send(set.api, login, request)
    const { status, json, headers } = answer
    expect([request, status, json]).toEqual([request, after.status, after.json])
    expect([request, json.success, headers.getSetCookie()]).toEqual([request, false, []])
    expect<unknown>([request, await everything(store.read)]).toEqual([request, left])
  }

  const resetByRoot = (api: TestApi) =>
    api.call('PUT', '/api/user/', { as: root.token, body: { id: person.id, password: 'given by root' } })
  const manage = (action: string) => (api: TestApi) =>
    api.call('POST', '/api/user/manage', { as: root.token, body: { username: person.username, action } })

  test('a request from a stolen login that was admitted before a password reset does not undo the reset', async () => {
    for (const request of ownWrites) {
      for await (const login of eachLogin()) {
        await tooLate(login, request, resetByRoot)
        const body = { username: person.username, password: 'given by root' }
        expect((await set.api.call('POST', '/api/user/login', { body })).json.success).toBe(true)
      }
    }
  })

  test('a request from a stolen login undoes neither a reset by email nor a password change by the owner', async () => {
    for await (const login of eachLogin()) {
      const email = `${person.username}@example.com`
      await store.write(async (trx) => {
        await trx.updateTable('users').set({ email }).where('id', '=', person.id).execute()
        const codes = createOneTimeCodes({ secrets: set.api.secrets, clock: { nowMs: () => set.api.time.ms } })
        await codes.save(trx, 'reset', `user ${person.id}`, 'code of the mail')
      })
      const body = { email, token: 'code of the mail' }
      await tooLate(login, ['PUT', '/api/user/self', { password: 'chosen by a thief' }], (api) =>
        api.call('POST', '/api/user/reset', { body }),
      )
    }
    for await (const login of eachLogin()) {
      const own = { cookie: await set.session(person) }
      await tooLate(login, ['GET', '/api/user/token'], (api) =>
        send(api, own, ['PUT', '/api/user/self', { password: 'chosen by the owner' }]),
      )
    }
  })

  test('a login that a reset has just ended cannot bind an email address', async () => {
    for await (const login of eachLogin()) {
      const email = `thief-of-${person.username}@example.com`
      const codes = createOneTimeCodes({ secrets: set.api.secrets, clock: { nowMs: () => set.api.time.ms } })
      await store.write((trx) => codes.save(trx, 'verification', email, '123456'))
      await tooLate(login, ['GET', `/api/oauth/email/bind?email=${email}&code=123456`], resetByRoot)
    }
  })

  test('a request that was admitted before a ban or a deletion is refused after it', async () => {
    for (const action of ['disable', 'delete']) {
      for await (const login of eachLogin()) await tooLate(login, ['GET', '/api/user/token'], manage(action))
    }
  })

  test('an admin’s request that was admitted before a demotion is refused after it', async () => {
    const target = await set.person()
    const code = { name: 'kept', quota: 1000, count: 1 }
    expect((await send(set.api, { as: root.token }, ['POST', '/api/redemption/', code])).json.success).toBe(true)
    const { id } = await store.read.selectFrom('redemptions').select('id').executeTakeFirstOrThrow()
    const requests: Request[] = [
      ['PUT', '/api/redemption/', { id, name: 'kept', quota: 1_000_000 }],
      ['PUT', '/api/redemption/?status_only=true', { id, status: 3 }],
      ['DELETE', `/api/redemption/${id}`],
      ['POST', '/api/user/', { username: 'made', password: 'long enough' }],
      ['PUT', '/api/user/', { id: target.id, password: 'chosen by no admin' }],
      ['PUT', '/api/user/', { id: target.id, quota_delta: 1000 }],
      ['POST', '/api/user/manage', { username: target.username, action: 'disable' }],
      ['DELETE', `/api/user/${target.id}`],
      ['POST', '/api/topup', { user_id: target.id, quota: 1000, remark: '' }],
      ['POST', '/api/redemption/', { name: 'late', quota: 1000, count: 1 }],
      ['PUT', '/api/option/', { key: 'Footer', value: 'late' }],
    ]
    for (const request of requests) {
      for await (const login of eachLogin(10)) await tooLate(login, request, manage('demote'))
    }
  })

  test('a demoted admin can still do what every user may do', async () => {
    person = await set.person(10)
    const { answer } = await meanwhile(
      async (slow) => manage('demote')(await createTestApi(slow)),
      (late) => send(late, { as: person.token }, ['PUT', '/api/user/self', { display_name: 'demoted' }]),
    )
    expect(answer.json.success).toBe(true)
    const { data } = (await set.api.call('GET', '/api/user/self', { as: person.token })).json
    expect(data).toMatchObject({ role: 1, display_name: 'demoted' })
  })

  test('a call whose cookie has expired is refused, and does not fall back to the access token sent along with it', async () => {
    person = await set.person()
    const thief = await set.person()
    const login = { cookie: await set.session(person), as: thief.token }
    const { answer, left } = await meanwhile(
      async (slow) => resetByRoot(await createTestApi(slow)),
      (late) => send(late, login, ['PUT', '/api/user/self', { password: 'chosen by a thief' }]),
    )
    expect([answer.status, answer.json.success]).toEqual([401, false])
    expect<unknown>(await everything(store.read)).toEqual(left)
  })

  // Only PostgreSQL has row locks.
  if (name === 'postgres') {
    test('accounts are locked in the order of their ids: a call that waits for the lower id has not locked the higher one', async () => {
      const middle = await set.person()
      const high = await set.person(100)
      const highest = await set.person()
      for (const { actor, target } of [
        { actor: high, target: middle },
        { actor: root, target: highest },
      ]) {
        const [held, free] = [Math.min(actor.id, target.id), Math.max(actor.id, target.id)]
        for (const request of [
          ['PUT', '/api/user/', { id: target.id, display_name: 'new' }],
          ['POST', '/api/user/manage', { username: target.username, action: 'disable' }],
          ['DELETE', `/api/user/${target.id}`],
        ] satisfies Request[]) {
          let isFree = false
          const begun = Promise.withResolvers<void>()
          const mayLook = Promise.withResolvers<void>()
          const holder = store.write(async (trx) => {
            await lockUser(trx, { id: held })
            begun.resolve()
            await mayLook.promise
            const looked = trx.selectFrom('users').select('id').where('id', '=', free).forUpdate().skipLocked()
            isFree = (await looked.execute()).length === 1
          })
          await begun.promise
          const answer = send(set.api, { as: actor.token }, request)
          await Promise.race([untilOneWaits(store), answer])
          mayLook.resolve()
          await holder
          expect([request, isFree, (await answer).json?.success]).toEqual([request, true, true])
        }
      }
    })
  }
})
