import type { Insertable } from 'kysely'
import { logType } from '../../contract/log-types.ts'
import { roles } from '../../contract/roles.ts'
import { type UtcPeriods, utcPeriods } from '../../server/lib/utc.ts'
import { emptyLogRow } from '../../server/store/logs/logs.ts'
import type { LogsTable } from '../../server/store/schema/tables.ts'
import type { Store, Trx } from '../../server/store/store.ts'
import { addChannelFailures } from '../../server/store/usage/channel-failures.ts'
import type { Random } from '../../test/fuzz/random.ts'
import { models, type SeededChannel } from './channels.ts'
import type { SeededToken } from './people.ts'

const days = 60
const daySeconds = 86_400
const hourSeconds = 3600
const rowsPerStatement = 200
/** The first user makes this many additional calls on this day, counted back from today. */
const burst = { daysAgo: 3, calls: 400 }

interface CallsPlan {
  readonly people: readonly SeededToken[]
  readonly channels: readonly SeededChannel[]
  readonly random: Random
  readonly nowSeconds: number
  readonly calls: number
  /** If true, no request fails because of a channel or a balance, and nobody spends much more than usual. */
  readonly healthy: boolean
}

type Row = Insertable<LogsTable>

/** Adds the calls, with matching balances and counts, so that `tollgate audit` finds no fault. */
export async function addCalls(store: Store, plan: CallsPlan): Promise<void> {
  const { random, nowSeconds, calls } = plan
  const start = nowSeconds - days * daySeconds
  const rows: Row[] = []
  const burstCalls = plan.healthy ? 0 : Math.min(burst.calls, calls)
  const spread = calls - burstCalls
  for (let index = 0; index < spread; index++) {
    // There are more calls by day than by night, and more now than two months ago.
    const at = start + Math.floor(Math.sqrt((index + 1) / spread) * days * daySeconds)
    const isNight = Math.floor(at / hourSeconds) % 24 < 7
    rows.push(call(plan, isNight && random.chance(0.7) ? at - 8 * hourSeconds : at, busyToken(plan)))
  }
  const [first] = plan.people
  for (let index = 0; first && index < burstCalls; index++)
    rows.push(call(plan, nowSeconds - burst.daysAgo * daySeconds - random.int(6 * hourSeconds), first))
  rows.sort((one, other) => one.created_at - other.created_at)
  await store.write(async (trx) => {
    for (let at = 0; at < rows.length; at += rowsPerStatement)
      await trx
        .insertInto('logs')
        .values(rows.slice(at, at + rowsPerStatement))
        .execute()
    await addFailures(trx, rows)
    await addUse(trx, rows, utcPeriods(nowSeconds))
    await addCredit(trx, start)
  })
}

/** Chooses a token. A few tokens make most of the calls, unless the installation is healthy. */
function busyToken({ people, random, healthy }: CallsPlan): SeededToken {
  if (healthy) return random.pick(people)
  const index = Math.floor((random.int(1000) / 1000) ** 2.5 * people.length)
  return people[index] as SeededToken
}

function call({ channels, random, healthy }: CallsPlan, at: number, token: SeededToken): Row {
  const [model, price] = models[Math.floor((random.int(1000) / 1000) ** 2 * models.length)] as (typeof models)[number]
  const serving = channels.filter((each) => each.models.includes(model) && each.conduct !== 'off')
  const channel = random.pick(serving.filter(({ conduct }) => conduct === 'sound'))
  const failing = serving.find(({ conduct }) => conduct === 'failing')
  const prompt = 20 + random.int(90) ** 2
  const completion = model.includes('embedding') ? 0 : 1 + random.int(40) ** 2
  const elapsed = 150 + random.int(120) ** 2
  const shared = {
    ...emptyLogRow,
    ...emptyFailure,
    user_id: token.user.id,
    username: token.user.username,
    token_id: token.id,
    token_name: token.name,
    created_at: at,
    model_name: model,
    request_id: requestIdAt(at * 1000 - elapsed, random),
    elapsed_time: elapsed,
    is_stream: random.chance(0.6),
  }
  if (random.chance(0.02)) return healthy ? invalidCall(shared) : failedCall(shared, failing ?? channel, random)
  const isRescued = failing !== undefined && random.chance(0.15)
  const tries = [
    { channelId: failing?.id ?? 0, status: 503, error: 'The server is overloaded', elapsedMs: 40 + random.int(200) },
    { channelId: channel.id, status: 200, error: '', elapsedMs: elapsed },
  ]
  return {
    ...shared,
    type: logType.consume,
    content: `ratio: ${price / 1000} × 4 × 1`,
    quota: Math.ceil(((prompt + 4 * completion) * price) / 1000),
    prompt_tokens: prompt,
    completion_tokens: completion,
    channel_id: channel.id,
    first_byte_time: 80 + random.int(Math.min(elapsed, 2000)),
    cached_tokens: random.chance(0.25) ? Math.floor(prompt / 2) : 0,
    estimated: random.chance(0.01),
    outcome: healthy || random.chance(0.97) ? 'complete' : random.chance(0.5) ? 'aborted' : 'interrupted',
    attempts: isRescued ? JSON.stringify(tries) : '',
  }
}

/** Default values, because all rows of one statement need the same columns. */
const emptyFailure = { asked_model: '', endpoint: '', status: 0, code: '', upstream_message: '', left_out: 0 }

const failures = [
  {
    status: 503,
    code: 'upstream_unavailable',
    content: 'no channel could answer',
    message: 'The server is overloaded',
  },
  { status: 429, code: 'upstream_rate_limit', content: 'the upstream is busy', message: 'Rate limit reached' },
  { status: 403, code: 'insufficient_user_quota', content: 'the quota is used up', message: '' },
] as const

function failedCall(row: Omit<Row, 'type' | 'content'>, channel: SeededChannel, random: Random): Row {
  const { status, code, content, message } = random.pick(failures)
  const isUpstream = message !== ''
  const attempts = [{ channelId: channel.id, status, error: message, elapsedMs: 40 + random.int(200) }]
  return {
    ...row,
    type: logType.error,
    outcome: 'failed',
    content,
    endpoint: '/v1/chat/completions',
    status,
    code,
    upstream_message: message,
    channel_id: isUpstream ? channel.id : 0,
    attempts: isUpstream ? JSON.stringify(attempts) : '',
  }
}

/** Turns a row into a call that failed because its request was invalid. */
function invalidCall(row: Omit<Row, 'type' | 'content'>): Row {
  return {
    ...row,
    type: logType.error,
    outcome: 'failed',
    content: 'messages must not be empty',
    endpoint: '/v1/chat/completions',
    status: 400,
    code: 'invalid_request',
    channel_id: 0,
    attempts: '',
  }
}

/** Counts the failed attempts of the rows against their channels. */
async function addFailures(trx: Trx, rows: readonly Row[]): Promise<void> {
  const counts = new Map<string, { channel_id: number; model_name: string; slot: number; attempts: number }>()
  for (const { attempts, model_name, created_at } of rows) {
    const tries = attempts === '' ? [] : (JSON.parse(attempts) as { channelId: number; error: string }[])
    for (const { channelId, error } of tries) {
      if (error === '') continue
      const slot = Math.floor(created_at / hourSeconds)
      const key = `${channelId} ${model_name} ${slot}`
      const count = counts.get(key) ?? { channel_id: channelId, model_name, slot, attempts: 0 }
      count.attempts++
      counts.set(key, count)
    }
  }
  await addChannelFailures(trx, [...counts.values()])
}

/** Adds the used amounts to users, tokens and channels. */
async function addUse(trx: Trx, rows: readonly Row[], periods: UtcPeriods): Promise<void> {
  const sums = { users: new Map<number, Sum>(), tokens: new Map<number, Sum>(), channels: new Map<number, Sum>() }
  for (const row of rows) {
    if (row.type !== logType.consume) continue
    add(sums.users, row.user_id, row, periods)
    add(sums.tokens, row.token_id, row, periods)
    add(sums.channels, row.channel_id, row, periods)
  }
  for (const [id, { quota, calls, ...spent }] of sums.users)
    await trx
      .updateTable('users')
      .set((eb) => ({
        used_quota: quota,
        request_count: calls,
        granted_quota: eb('granted_quota', '+', quota),
        ...spent,
      }))
      .where('id', '=', id)
      .execute()
  for (const [id, { quota, calls: _, ...spent }] of sums.tokens)
    await trx
      .updateTable('tokens')
      .set((eb) => ({
        used_quota: quota,
        granted_quota: eb('granted_quota', '+', quota),
        accessed_time: spent.spent_at,
        ...spent,
      }))
      .where('id', '=', id)
      .execute()
  for (const [id, { quota }] of sums.channels)
    await trx.updateTable('channels').set({ used_quota: quota }).where('id', '=', id).execute()
}

interface Sum {
  quota: number
  calls: number
  spent_today: number
  spent_month: number
  spent_at: number
}

/** Adds a call to a sum. Calls must be added in the order of their times. */
function add(sums: Map<number, Sum>, id: number, { quota, created_at }: Row, periods: UtcPeriods): void {
  const sum = sums.get(id) ?? { quota: 0, calls: 0, spent_today: 0, spent_month: 0, spent_at: 0 }
  sums.set(id, {
    quota: sum.quota + quota,
    calls: sum.calls + 1,
    spent_today: sum.spent_today + (created_at >= periods.dayStart ? quota : 0),
    spent_month: sum.spent_month + (created_at >= periods.monthStart ? quota : 0),
    spent_at: created_at,
  })
}

/** Adds one log entry for the credit of each user. Without it, their statements would be incomplete. */
async function addCredit(trx: Trx, at: number): Promise<void> {
  const users = await trx
    .selectFrom('users')
    .select(['id', 'username', 'granted_quota'])
    .where('granted_quota', '>', 0)
    .where('role', '=', roles.user)
    .execute()
  const rows = users.map(({ id, username, granted_quota }) => ({
    ...emptyLogRow,
    user_id: id,
    username,
    created_at: at,
    type: logType.topUp,
    content: 'credit added by an admin',
    quota: granted_quota,
  }))
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    await trx
      .insertInto('logs')
      .values(rows.slice(from, from + rowsPerStatement))
      .execute()
}

/** A request id in the gateway's format: the time at which the request began, then 17 digits. */
function requestIdAt(startMs: number, random: Random): string {
  const digits = (length: number) => String(random.int(10 ** length)).padStart(length, '0')
  return new Date(startMs).toISOString().replace(/\D/g, '').slice(0, 14) + digits(9) + digits(8)
}
