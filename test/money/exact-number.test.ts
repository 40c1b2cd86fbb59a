import { describe, expect, test } from 'bun:test'
import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { newPostgresDatabase, postgresMissing } from '../helpers/postgres.ts'
import {
  allowLeases,
  answer,
  completionTokens,
  installFor,
  messages,
  model,
  newToken,
  pricePerCall,
  promptTokens,
} from './installed.ts'

const calls = 1000
const paid = 300

const variants = [
  ['non-streamed calls that request more tokens than they use', { max_tokens: 50 }],
  ['non-streamed calls without a token limit', {}],
  ['streams', { stream: true }],
] as const

describe(`of ${calls} concurrent calls with quota for ${paid}, exactly ${paid} are served`, () => {
  for (const [name, fields] of variants) {
    test(`sqlite, one process: ${name}`, () => proof(undefined, 1, fields), 120_000)
  }
  if (postgresMissing !== undefined) {
    test.skip(`postgres (${postgresMissing})`, () => undefined)
    return
  }
  for (const [name, fields] of variants) {
    for (const leases of [false, true]) {
      test(`postgres, three processes${leases ? ' with leases' : ''}: ${name}`, async () => {
        await using database = await newPostgresDatabase()
        await proof(database.url, 3, fields, leases)
      }, 120_000)
    }
  }
})

async function proof(
  databaseUrl: string | undefined,
  processes: number,
  fields: object,
  leases = false,
): Promise<void> {
  await using upstream = await startFakeUpstream()
  upstream.always(ok({ text: answer, promptTokens }))
  await using installation = new Installation(databaseUrl)
  const first = await installation.start()
  await installFor(first, upstream.url)
  // Makes calls wait long enough that, even on a slow machine, a call is refused because the quota is used up and not
  // because it waited too long.
  await first.api('PUT', '/api/option/', { key: 'HoldWaitTime', value: '60' })
  if (leases) await allowLeases(first)
  const gateways = [first]
  while (gateways.length < processes) gateways.push(await installation.start())
  const token = await newToken(first, paid * pricePerCall)
  const store = openStore({ url: installation.databaseUrl })
  const watch = watchBalance(store, token.id)
  const answers = await Promise.all(
    Array.from({ length: calls }, async (_none, index) => {
      const gateway = gateways[index % gateways.length] ?? first
      const response = await gateway.post('/v1/chat/completions', { model, messages, ...fields }, token.key)
      return { status: response.status, text: await response.text() }
    }),
  )
  const lowest = await watch.stop()
  const served = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${codeOf(text)}`)
  expect(served.length).toBe(paid)
  expect(served.filter(({ text }) => isWhole(text, 'stream' in fields)).length).toBe(paid)
  expect([...new Set(refused)].sort()).toEqual(['401 token_exhausted'])
  expect(lowest.samples).toBeGreaterThan(3)
  expect(lowest.balance).toBe(0)
  const row = await store.read.selectFrom('tokens').selectAll().where('id', '=', token.id).executeTakeFirstOrThrow()
  expect({ remain: row.remain_quota, used: row.used_quota }).toEqual({ remain: 0, used: paid * pricePerCall })
  const logs = await store.read
    .selectFrom('logs')
    .selectAll()
    .where('token_id', '=', token.id)
    .where('type', '=', 2)
    .execute()
  expect(logs.length).toBe(paid)
  expect(
    new Set(logs.map((log) => `${log.quota} ${log.prompt_tokens} ${log.completion_tokens} ${log.outcome}`)),
  ).toEqual(new Set([`${pricePerCall} ${promptTokens} ${completionTokens} complete`]))
  expect(upstream.requests.length).toBe(paid)
  await store.close()
  const audit = await installation.run('audit')
  expect(audit.output).toContain(' 0 holds open; 0 faults.')
  expect(audit.code).toBe(0)
}

/** Reads the balance continuously. It must never be below zero. */
function watchBalance(store: Store, tokenId: number) {
  let running = true
  let samples = 0
  let balance = Number.POSITIVE_INFINITY
  const done = (async () => {
    while (running) {
      const row = await store.read
        .selectFrom('tokens')
        .innerJoin('users', 'users.id', 'tokens.user_id')
        .select(['tokens.remain_quota', 'users.quota'])
        .where('tokens.id', '=', tokenId)
        .executeTakeFirstOrThrow()
      balance = Math.min(balance, row.remain_quota, row.quota)
      samples++
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  return {
    async stop() {
      running = false
      await done
      return { samples, balance }
    },
  }
}

/** True for a complete response with all of its words: a JSON document, or a stream with its end marker. */
function isWhole(text: string, isStream: boolean): boolean {
  if (isStream) return text.endsWith('data: [DONE]\n\n') && text.split('"content":').length === completionTokens + 2
  const body = JSON.parse(text) as { choices: { message: { content: string } }[] }
  return body.choices[0]?.message.content === answer
}

function codeOf(text: string): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code
}
