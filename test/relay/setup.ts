import { expect } from 'bun:test'
import type { Updateable } from 'kysely'
import { randomBase62 } from '../../server/lib/secrets/ids.ts'
import { createRetryBudget } from '../../server/relay/routing/retry-budget.ts'
import { addUser } from '../../server/store/accounts/user-changes.ts'
import type { TokensTable, UsersTable } from '../../server/store/schema/tables.ts'
import { addTokenWithKey } from '../helpers/accounts.ts'
import { type FakeUpstream, neverAnswers, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type ChannelInput, type LogRow, startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'

/** A caller's user and token. */
export interface Caller {
  userId: number
  tokenId: number
  token: string
}

/** A gateway with one upstream. A token of model `m` costs one unit, both in the prompt and in the answer. */
export interface Rig extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  /** Adds a channel of the upstream, for model `m` by default. */
  channel(fields?: Partial<ChannelInput>): Promise<number>
  /** Creates a user with a token. The fields of both can be set. */
  caller(quota?: Quota, fields?: CallerFields): Promise<Caller>
  /** Removes all channels, rules and requests, and sets the given options, which a test may have changed. */
  clear(options?: Record<string, string>): Promise<void>
}

/** The quota of a user and of its token. If the token's quota is omitted, the token is unlimited. */
interface Quota {
  user: number
  token?: number
}

interface CallerFields {
  user?: Updateable<UsersTable>
  token?: Updateable<TokensTable>
}

/** Enough quota for every call in tests that are not about running out of quota. */
const plenty = 1_000_000

/** Starts the gateway and the upstream. With `channels: false`, the gateway has no channels. */
export async function startRelayRig(
  options: Parameters<typeof startTestGateway>[0] & { channels?: false; settings?: Record<string, string> } = {},
): Promise<Rig> {
  const upstream = await startFakeUpstream()
  const gateway = await startTestGateway(options)
  const settings = { ModelRatio: '{"m":1,"m2":1}', CompletionRatio: '{"m":1,"m2":1}', ...options.settings }
  for (const [key, value] of Object.entries(settings)) await gateway.setOption(key, value)
  const rig: Rig = {
    gateway,
    upstream,
    channel: (fields = {}) => gateway.addChannel({ base_url: upstream.url, models: 'm', ...fields }),
    caller: (quota = { user: plenty, token: plenty }, fields = {}) => addCaller(gateway, quota, fields),
    async clear(changed = {}) {
      const rows = await gateway.context.store.read.selectFrom('channels').select('id').execute()
      for (const { id } of rows) await gateway.api('DELETE', `/api/channel/${id}`)
      for (const [key, value] of Object.entries(changed)) await gateway.setOption(key, value)
      // Each test begins with a full budget of retries.
      gateway.context.relay.relay.retryBudget = createRetryBudget()
      await upstream.until(({ openStreams }) => openStreams === 0)
      upstream.clear()
    },
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
    },
  }
  if (options.channels !== false) await rig.channel()
  return rig
}

/** Writes directly to the database, because password hashing would take up most of a test's time. */
async function addCaller({ context }: TestGateway, quota: Quota, fields: CallerFields): Promise<Caller> {
  const { secrets, store } = context.api
  return store.write(async (trx) => {
    const username = `u${randomBase62(10)}`
    const userId = await addUser(trx, {
      username,
      password: '',
      display_name: username,
      quota: quota.user,
      created_time: 0,
    })
    if (fields.user) await trx.updateTable('users').set(fields.user).where('id', '=', userId).execute()
    return { userId, ...(await addTokenWithKey(trx, secrets, userId, quota.token, fields.token)) }
  })
}

/** A chat request for model `m`. The gateway counts 8 prompt tokens, and the fake upstream reports 10. */
export const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
/** The same request, streamed. */
export const chatStream = { ...chat, stream: true }
/** The same question in each caller's dialect. */
export const callerCalls = {
  chat: { path: '/v1/chat/completions', body: chat },
  responses: { path: '/v1/responses', body: { model: 'm', input: 'Hi' } },
  messages: { path: '/v1/messages', body: { ...chat, max_tokens: 10 } },
  gemini: {
    path: '/v1beta/models/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  },
} as const
export type CallerName = keyof typeof callerCalls
export const callers = Object.keys(callerCalls) as CallerName[]
/** The number of prompt tokens that the gateway counts for `chat`. */
export const promptTokens = 8

/** What a caller received. */
export interface Seen {
  status: number
  headers: Headers
  text: string
  /** The error object in the body, or in the stream's last event. */
  error: { message: string; type: string; param: string | null; code: string | number | null } | undefined
  /** True if the transfer of the body broke off. */
  broken: boolean
}

const listeners = new Set<(text: string) => void>()

/** Resolves once the text of a response that is being read with `see` contains this text. */
export function untilHeard(wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const listen = (text: string) => {
      if (!text.includes(wanted)) return
      listeners.delete(listen)
      resolve()
    }
    listeners.add(listen)
  })
}

/** Reads a response until it ends or breaks off. `onText` gets the text so far, each time more has arrived. */
export async function see(answer: Response | Promise<Response>, onText?: (text: string) => void): Promise<Seen> {
  const response = await answer
  const decoder = new TextDecoder()
  let text = ''
  let broken = false
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      onText?.(text)
      for (const listen of listeners) listen(text)
    }
  } catch {
    broken = true
  }
  return { status: response.status, headers: response.headers, text, error: errorIn(text), broken }
}

function errorIn(text: string): Seen['error'] {
  const events = eventsOf(text)
  for (const candidate of [text, events.at(-1) ?? '']) {
    try {
      const body = JSON.parse(candidate) as { error?: Seen['error'] }
      if (body.error) return body.error
    } catch {
      // The data is not an error object.
    }
  }
  return undefined
}

/** The data of each event of a stream. */
export function eventsOf(text: string): string[] {
  return text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .filter((data) => data !== '')
}

/** The text that a chat stream delivered. */
export function textOf(stream: string): string {
  let text = ''
  for (const event of eventsOf(stream)) {
    if (event === '[DONE]') continue
    const chunk = JSON.parse(event) as { choices?: { delta?: { content?: string } }[] }
    text += chunk.choices?.[0]?.delta?.content ?? ''
  }
  return text
}

/** Checks that a response is an error in OpenAI's format with this status and code, and has a request id. */
export function expectError(seen: Seen, status: number, code: string | number | null): void {
  const id = seen.headers.get('x-oneapi-request-id') ?? ''
  expect(id).toMatch(/^\d{20,}$/)
  expect({ status: seen.status, code: seen.error?.code, body: seen.error ? '' : seen.text }).toEqual({
    status,
    code,
    body: '',
  })
  expect(seen.error?.message).toEndWith(` (request id: ${id})`)
  expect(typeof seen.error?.type).toBe('string')
  expect(seen.error).toHaveProperty('param')
}

/** Checks that a stream began with status 200 and ended with an error event with this code, without the end marker. */
export function expectErrorEvent(seen: Seen, code: string): void {
  expect(seen.status).toBe(200)
  expect(seen.broken).toBe(false)
  expect({ code: seen.error?.code, end: seen.error ? '' : seen.text.slice(-300) }).toEqual({ code, end: '' })
  expect(seen.error?.message).toEndWith(` (request id: ${seen.headers.get('x-oneapi-request-id')})`)
  expect(seen.text).not.toContain('[DONE]')
}

/** Waits for a condition of the gateway for which there is no signal. */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${condition.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/**
 * Waits until no hold is open, then checks that the charges of the user, the token and the channels match the log.
 * Returns the log rows, newest first.
 */
export async function charged(rig: Rig, caller: Caller, units: number, before = plenty): Promise<LogRow[]> {
  const { gateway } = rig
  await until(async () => (await gateway.balances(caller.userId, caller.tokenId)).holds === 0)
  expect(await gateway.balances(caller.userId, caller.tokenId)).toEqual({
    quota: before - units,
    used: units,
    remain: before - units,
    tokenUsed: units,
    holds: 0,
  })
  const rows = (await gateway.logs()).filter((row) => row.token_id === caller.tokenId)
  expect(rows.reduce((sum, row) => sum + row.quota, 0)).toBe(units)
  const channels = await gateway.context.store.read.selectFrom('channels').select(['id', 'used_quota']).execute()
  const all = await gateway.logs()
  for (const channel of channels) {
    const sum = all.filter((row) => row.channel_id === channel.id).reduce((total, row) => total + row.quota, 0)
    expect({ channel: channel.id, used: channel.used_quota }).toEqual({ channel: channel.id, used: sum })
  }
  return rows
}

/** Makes a call to which the upstream never responds, calls `look` while the hold is open, and then disconnects. */
export async function whileHeld<T>(
  { gateway, upstream }: Rig,
  caller: Caller,
  path: string,
  body: object,
  look: (held: number) => T | Promise<T>,
): Promise<T> {
  upstream.next(neverAnswers())
  const before = upstream.requests.length
  const leave = new AbortController()
  const answer = gateway.post(path, body, caller.token, { signal: leave.signal }).catch(() => undefined)
  await upstream.received(before + 1)
  const { amount } = await gateway.context.store.read
    .selectFrom('holds')
    .select('amount')
    .where('user_id', '=', caller.userId)
    .executeTakeFirstOrThrow()
  const seen = await look(amount)
  leave.abort()
  await answer
  return seen
}

/** The units charged to a caller, read when no hold is open. For tests in which the exact number does not matter. */
export async function chargedUnits(
  rig: Rig,
  caller: Caller,
  before = plenty,
): Promise<{ units: number; rows: LogRow[] }> {
  const { gateway } = rig
  await until(async () => (await gateway.balances(caller.userId, caller.tokenId)).holds === 0)
  const { used } = await gateway.balances(caller.userId, caller.tokenId)
  return { units: used, rows: await charged(rig, caller, used, before) }
}
