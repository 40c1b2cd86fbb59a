// Sends invalid requests to every field of every endpoint of the management API, in every role from visitor to root.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isOptionKey, optionDefinitions } from '../../contract/options.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { type Fault, fire, type Shot } from './drive.ts'
import { fuzzRequests, fuzzSeed, inTurn, tell } from './plan.ts'
import { type Random, seeded } from './random.ts'
import { buildRequest } from './requests.ts'
import { FuzzRig, type RoleName } from './rig.ts'
import { contractRoutes, targetName, targetsOf } from './routes.ts'
import { harmed, movedBalances, takeSnapshot } from './snapshot.ts'

const batchSize = 200

const targets = targetsOf(contractRoutes())
const shares: Record<RoleName, number> = { visitor: 0.1, user: 0.3, admin: 0.3, root: 0.3 }
/** Calls that end the sender's session or account. They are sent last in a batch. */
const endings = new Set(['user.deleteSelf', 'user.updateSelf', 'auth.logout', 'auth.login', 'user.accessToken'])

/** Options that an admin is not allowed to write. */
const isRoots = (key: string) => isOptionKey(key) && optionDefinitions[key].writer === 'root'

forEachDatabaseUrl((_, freshUrl) => {
  let rig: FuzzRig
  beforeAll(async () => {
    rig = await FuzzRig.start(await freshUrl())
  }, 120_000)
  afterAll(() => rig[Symbol.asyncDispose](), 120_000)

  /** Sends all requests of one role. Returns the faults, and the rows before and after. */
  async function assault(role: RoleName, random: Random) {
    const order = inTurn(targets, random)
    const count = Math.round(fuzzRequests * shares[role])
    const faults: Fault[] = []
    const hit = new Map<string, number>()
    const statuses = new Map<number, number>()
    const before = await takeSnapshot(rig.store)
    for (let sent = 0; sent < count; sent += batchSize) {
      const isTime = sent > 0 && sent % (5 * batchSize) === 0
      if (isTime && role === 'root') await rig.resetOptions()
      if (isTime && (role === 'admin' || role === 'root')) await rig.refill()
      const cookie = await rig.cookieOf(role)
      const shots: Shot[] = []
      for (let at = sent; at < Math.min(sent + batchSize, count); at++) {
        const target = order.next().value
        const request = buildRequest(target, rig.worldOf(role), random, at)
        const headers = { ...rig.newAddress(), ...(cookie !== '' && { cookie }), ...request.headers }
        hit.set(targetName(target), (hit.get(targetName(target)) ?? 0) + 1)
        shots.push({
          number: at,
          target: targetName(target),
          role,
          request: { ...request, headers },
          media: target.route.endpoint.media !== undefined,
        })
      }
      const endsLast = (shot: Shot) => Number(endings.has(shot.target.split(' ')[0] ?? ''))
      shots.sort((a, b) => endsLast(a) - endsLast(b))
      const result = await fire(rig.gateway.url, shots)
      faults.push(...result.faults)
      if (result.faults.length > 0) console.log(rig.gateway.said())
      for (const [status, times] of result.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times)
      expect((await fetch(`${rig.gateway.url}/healthz`)).status).toBe(200)
    }
    if (count >= targets.length) expect(hit.size).toBe(targets.length)
    tell(`${count} calls of a ${role}, ${hit.size} of ${targets.length} targets`, statuses)
    return { faults, hit, before, after: await takeSnapshot(rig.store) }
  }

  const isActor = (row: Record<string, unknown>) => rig.actorIds.has(Number(row['id'] ?? 0))
  const ofActor = (row: Record<string, unknown>) => rig.actorIds.has(Number(row['user_id'] ?? 0))

  for (const role of ['visitor', 'user', 'admin', 'root'] as const) {
    test(`${Math.round(fuzzRequests * shares[role])} invalid requests of a ${role} cause no failure, no hang and no damage`, async () => {
      const { faults, before, after } = await assault(role, seeded(fuzzSeed * 10 + Object.keys(shares).indexOf(role)))
      expect(faults).toEqual([])
      expect(movedBalances(before, after)).toEqual([])
      expect(harmed(before, after, 'tokens', ofActor)).toEqual([])
      if (role === 'visitor' || role === 'user') {
        expect(harmed(before, after, 'users', isActor)).toEqual([])
        expect(harmed(before, after, 'channels', () => false)).toEqual([])
        expect(harmed(before, after, 'redemptions', () => false)).toEqual([])
        expect(after.options).toEqual(before.options)
      }
      if (role === 'admin') {
        expect(harmed(before, after, 'users', (row) => Number(row['role']) < 10 || isActor(row))).toEqual([])
        const moved = [...before.options].filter(([key, value]) => isRoots(key) && after.options.get(key) !== value)
        expect(moved).toEqual([])
      }
    }, 3_600_000)
  }

  test('the ledger is still consistent after all requests', async () => {
    const { code, output } = await rig.audit()
    expect([code, output]).toEqual([0, expect.stringContaining(' 0 faults.')])
  }, 120_000)
})
