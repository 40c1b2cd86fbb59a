import { expect, test } from 'bun:test'
import { forEachDatabase } from '../../../test/helpers/databases.ts'
import { createSecrets } from '../../lib/secrets/secrets.ts'
import { createAccessTokens } from './upstream-tokens.ts'

const secrets = createSecrets('a master key for tests')

forEachDatabase((_name, openFresh) => {
  /** Nodes that share a database and a clock, with a counter of token requests. */
  async function nodes() {
    const store = await openFresh()
    const state = { nowMs: 1_700_000_000_000, made: 0, warnings: [] as string[] }
    const node = () =>
      createAccessTokens({ store, secrets, nowMs: () => state.nowMs, warn: (text) => state.warnings.push(text) })
    const make = async () => ({ value: `token ${++state.made}`, expiresAtMs: state.nowMs + 3_600_000 })
    return { store, state, node, make }
  }

  test('a token is requested once, however many calls on however many nodes need it', async () => {
    const { state, node, make } = await nodes()
    const [one, other] = [node(), node()]
    const first = await Promise.all(Array.from({ length: 20 }, () => one.get('key', make)))
    expect(new Set(first)).toEqual(new Set(['token 1']))
    expect(await other.get('key', make)).toBe('token 1')
    expect(await node().get('another key', make)).toBe('token 2')
    expect(state.warnings).toEqual([])
  })

  test('a new token is requested before the old one expires', async () => {
    const { state, node, make } = await nodes()
    const [one, other] = [node(), node()]
    await one.get('key', make)
    state.nowMs += 3_600_000 - 30_000
    expect(await one.get('key', make)).toBe('token 2')
    expect(await other.get('key', make)).toBe('token 2')
  })

  test('a failure reaches the caller and is not cached', async () => {
    const { node, make } = await nodes()
    const one = node()
    expect(one.get('key', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    expect(await one.get('key', make)).toBe('token 1')
  })

  test('a token that the service refused is replaced only once for all nodes', async () => {
    const { state, node, make } = await nodes()
    const [one, other] = [node(), node()]
    await one.get('key', make)
    await other.get('key', make)
    one.refused('key', 'token 1')
    expect(await one.get('key', make)).toBe('token 2')
    other.refused('key', 'token 1')
    expect(await other.get('key', make)).toBe('token 2')
    // A late refusal of an old token does not remove the new one.
    one.refused('key', 'token 1')
    expect(await one.get('key', make)).toBe('token 2')
    expect(state.made).toBe(2)
  })

  test('the token is stored encrypted, and its name is not stored', async () => {
    const { store, node, make } = await nodes()
    await node().get('client_id=secret', make)
    const rows = await store.read.selectFrom('access_tokens').selectAll().execute()
    expect(rows.length).toBe(1)
    expect(JSON.stringify(rows)).not.toMatch(/token 1|secret/)
  })

  test('a call gets a token even if the database cannot be reached', async () => {
    const { store, state, node, make } = await nodes()
    await store.close()
    expect(await node().get('key', make)).toBe('token 1')
    expect(state.warnings.length).toBe(2)
  })
})
