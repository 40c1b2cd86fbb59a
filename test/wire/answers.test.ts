// Every endpoint of the management API responds as documented when it succeeds with real data.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Access } from '../../contract/roles.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { differences } from '../../tools/repo-rules.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { promisedBy } from './document.ts'
import { endpoints, type Person, startWireGate, type WireGate } from './gate.ts'
import { type Me, successes } from './successes.ts'

// Complete gateways and real password hashes are slow on a busy machine.
setDefaultTimeout(120_000)

const promised = promisedBy(openApiDocument('0'))

test('every endpoint has a successful call here', () => {
  expect(
    differences(
      endpoints.map(({ name }) => name),
      Object.keys(successes),
    ),
  ).toEqual([])
})

forEachDatabaseUrl((kind, freshUrl) => {
  let gate: WireGate
  let user: Person

  /** A user with the lowest role that is allowed to make the call. */
  async function caller(access: Access): Promise<Me> {
    const { id, username, tokenId, cookie } =
      access === 'user' || access === 'public' ? user : await gate.person(access)
    return { id, username, tokenId, as: access === 'public' ? {} : { cookie } }
  }
  async function answerOf(name: string, me: Me): Promise<unknown> {
    const response = await successes[name]?.(gate, me)
    if (!response) throw new Error(`no call for ${name}`)
    expect([name, response.status]).toEqual([name, 200])
    return promised.check(name, response)
  }

  beforeAll(async () => {
    gate = await startWireGate(kind === 'postgres' ? await freshUrl() : undefined)
    user = await gate.person('user')
    // The gateway is used before the tests, so that logs and totals are not empty.
    const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
    const as = { relayToken: user.relayToken }
    expect((await gate.call('POST', '/v1/chat/completions', { as, body })).status).toBe(200)
    await answerOf('channelTest', await caller('admin'))
    await answerOf('redemptionCreate', await caller('admin'))
  })
  afterAll(() => gate[Symbol.asyncDispose]())

  /** These calls end their caller's account or session, so each of them gets its own user. */
  const endsCaller = ['userDeleteSelf', 'tokenRemove', 'authLogout']

  for (const { name, endpoint } of endpoints) {
    test(`${endpoint.method} ${endpoint.path}`, async () => {
      const me = await caller(endpoint.access)
      if (endsCaller.includes(name)) {
        const { id, username, tokenId, cookie } = await gate.person('user')
        Object.assign(me, { id, username, tokenId, as: { cookie } })
      }
      const body = await answerOf(name, me)
      if (typeof body === 'string') return
      if (endpoint.envelope !== 'bare' && endpoint.media === undefined) expect(body).toMatchObject({ success: true })
      const { data } = body as { data?: unknown }
      // An empty list would match any schema of rows.
      if (Array.isArray(data)) expect([name, data.length > 0]).toEqual([name, true])
    })
  }

  test('a login that binds an account, a change of the status only, and a failed channel test have their own response formats', async () => {
    const { id, username, tokenId, cookie } = user
    const me = { id, username, tokenId, as: { cookie } }
    expect(await answerOf('oauthGithub', me)).toEqual({ success: true, message: 'bind' })
    const body = { id: tokenId, status: 2 }
    const off = await gate.call('PUT', '/api/token/?status_only=true', { as: me.as, body })
    expect(await promised.check('tokenUpdate', off)).toMatchObject({ success: true, data: { status: 2 } })
    const admin = await caller('admin')
    const failed = await gate.call('GET', '/api/channel/test/999999', { as: admin.as })
    const refusal = { success: false, message: 'Channel not found.', code: 'channel_not_found', time: 0 }
    expect(await promised.check('channelTest', failed)).toEqual(refusal)
  })
})
