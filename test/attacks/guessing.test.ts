// Password guessing from many addresses.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { cookieOf } from '../helpers/api-app.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { password, type Scene, scene } from './setup.ts'

setDefaultTimeout(120_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let waits: number[]
  let address = 0

  beforeEach(async () => {
    waits = []
    const pause = async (ms: number) => void waits.push(ms)
    set = await scene(await openFresh(), { pause, rateRules: { accountFailures: { limit: 3, windowMs: 3_600_000 } } })
  })
  afterEach(() => set.api.store.close())

  /** Each attempt comes from a different address. */
  const login = (username: string, tried: string, cookie?: string) =>
    set.api.call('POST', '/api/user/login', {
      body: { username, password: tried },
      address: `203.0.113.${++address % 250}`,
      ...(cookie !== undefined && { cookie }),
    })

  test('once an account has had too many failed attempts, every login is delayed, but the right password is never refused', async () => {
    const { username } = await set.person()
    const other = await set.person()
    for (let at = 0; at < 3; at++) expect((await login(username, `wrong ${at}`)).json.success).toBe(false)
    expect(waits).toEqual([])
    expect((await login(username.toUpperCase(), 'wrong again')).json.success).toBe(false)
    expect(waits).toEqual([10_000])
    expect((await login(username, password)).json.success).toBe(true)
    expect(waits).toEqual([10_000, 10_000])
    expect((await login(other.username, password)).json.success).toBe(true)
    expect(waits).toHaveLength(2)
  })

  test('logins with unknown names are delayed like those with known names, so the delay reveals nothing', async () => {
    for (let at = 0; at < 4; at++) await login('nobody', `wrong ${at}`)
    expect(waits).toEqual([10_000])
  })

  test('a browser that has logged in before is neither counted nor delayed, but another account’s cookie gives no such exemption', async () => {
    const { username } = await set.person()
    const other = await set.person()
    const known = cookieOf(await login(username, password), 'known')
    const foreign = cookieOf(await login(other.username, password), 'known')
    for (let at = 0; at < 5; at++) await login(username, `mistyped ${at}`, known)
    expect(waits).toEqual([])
    for (let at = 0; at < 4; at++) await login(username, `guessed ${at}`, foreign)
    expect(waits).toEqual([10_000])
    expect((await login(username, password, known)).json.success).toBe(true)
    expect((await login(username, 'guessed', 'known=made-up')).json.success).toBe(false)
    expect(waits).toEqual([10_000, 10_000])
  })

  test('a new password invalidates the cookies that exempt known browsers from the delay', async () => {
    const { username, token } = await set.person()
    const known = cookieOf(await login(username, password), 'known')
    const body = { password: 'another good one' }
    expect((await set.api.call('PUT', '/api/user/self', { as: token, body })).json.success).toBe(true)
    for (let at = 0; at < 4; at++) await login(username, `guessed ${at}`, known)
    expect(waits).toEqual([10_000])
  })
})
