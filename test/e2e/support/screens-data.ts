import { type FakeUpstream, ok, startFakeUpstream } from '../../helpers/fake-upstream.ts'
import { type Console, rootAccount } from './console.ts'
import { openDatabase } from './database.ts'
import { logWriter, seededRequest, seededRequestAt } from './log-rows.ts'
import { person } from './screen.ts'
import { fillAlerts } from './screens-alert.ts'
import { fillVirtualModels } from './screens-virtual.ts'

const day = 86_400
const models = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-6', 'deepseek-chat', 'gemini-2.5-flash', 'qwen-plus', 'o3']
const answer = `A gateway takes **one key** for many services:

1. it checks the token,
2. it picks a channel,
3. it charges what was used.`

const channels = [
  ['OpenAI', 1, 1, 620, 'gpt-4o,gpt-4o-mini,o3'],
  ['Azure west', 3, 1, 1840, 'gpt-4o,gpt-4o-mini'],
  ['Claude', 14, 1, 4210, 'claude-sonnet-4-6'],
  ['DeepSeek', 36, 1, 930, 'deepseek-chat'],
  ['Gemini, shared by all teams of the research department', 24, 2, 0, 'gemini-2.5-flash'],
  ['Own proxy', 8, 3, 7300, 'gpt-4o,qwen-plus'],
  ['Unknown kind', 999, 1, 0, 'qwen-plus'],
] as const

const tokens = [
  ['laptop', 1, 5_000_000, 1_200_000, -1, 0],
  ['support bot of all customers', 1, 250_000, 4_750_000, 3 * day, 0],
  ['nightly report', 2, 900_000, 100_000, 40 * day, 0],
  ['old phone', 3, 400_000, 100_000, -9 * day, 0],
  ['trial', 4, 0, 500_000, -1, 0],
  ['server', 1, 0, 88_000_000, -1, 1],
] as const

const people = [
  ['mei', 'Mei Lin', 'vip', 10, 1],
  ['longest-name', 'Somebody With A Rather Long Name', 'default', 1, 1],
  ['ken', 'Ken', 'svip,default', 1, 2],
] as const

/**
 * Creates rows, options and codes, so that every page has something to show. Returns the upstream that the channels
 * call.
 */
export async function fillForScreens(site: Console): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream()
  upstream.always(ok({ text: answer, promptTokens: 21 }))
  for (const [name, type, , , list] of [...channels].reverse()) {
    const key = type === 3 ? 'k' : 'sk-upstream'
    const fields = { name, type: type === 999 ? 8 : type, key, models: list, group: 'default', base_url: upstream.url }
    await site.api('POST', '/api/channel/', fields)
  }
  for (const [name, display, , role] of people) await site.addUser(name, { role }).then(({ id }) => id && display)
  await site.addUser(person.username)
  await site.api('POST', '/api/redemption/', { name: 'spring', quota: 500_000, count: 3 })
  await site.api('POST', '/api/redemption/', { name: 'partners of 2026', quota: 25_000_000, count: 1 })
  for (const [name] of [...tokens].reverse()) {
    const fields = { name, remain_quota: 1_000_000, expired_time: -1, unlimited_quota: true }
    await site.apiAs(rootAccount, 'POST', '/api/token/', fields)
  }
  for (const [key, value] of Object.entries(options)) await site.api('PUT', '/api/option/', { key, value })
  writeRows(site)
  await fillAlerts(site)
  await fillVirtualModels(site)
  return upstream
}

const options = {
  ServerAddress: 'https://gateway.example.com',
  ChatLink: 'https://chat.example/app',
  TopUpLink: 'https://shop.example',
  Notice: '**Maintenance** on Sunday, 02:00 to 03:00 UTC.',
  WeChatServerAddress: 'https://wechat.example',
  WeChatServerToken: 'secret',
  WeChatAccountQRCodeImageURL:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  WeChatAuthEnabled: 'true',
  StatusPageEnabled: 'true',
  PublicModelsEnabled: 'true',
}

/** The attempts of a call that succeeded on a second channel. */
const failover = JSON.stringify([
  { channelId: 2, status: 429, error: 'rate limit reached for this organisation', elapsedMs: 212 },
  { channelId: 1, status: 200, error: '', elapsedMs: 940 },
])

/** The format and parameters of the seeded request, as the log stores them. */
const seededDescription = {
  path: '/v1/messages',
  from: 'anthropic-messages',
  to: 'openai-chat',
  client: 'claude-cli/2.1.4',
  with: { max_tokens: 32_000, temperature: 0.7, messages: 12, tools: 3, tool_choice: 'auto', thinking: 'adaptive' },
}

/** Writes months of usage, and states that cannot be created through the API. */
function writeRows(site: Console): void {
  using database = openDatabase(site)
  const now = Math.floor(Date.now() / 1000)
  const log = logWriter(database)
  database.transaction(() => {
    for (let index = 400; index > 0; index--) {
      const consumes = index % 29 !== 0
      const kind = consumes ? 2 : 1 + ((index / 29) % 4)
      const spent = consumes ? ((index * 7919) % 60_000) + 200 : 0
      log({
        created_at: now - index * 6571,
        type: consumes || kind === 2 ? 2 : kind,
        content: consumes ? 'ratio: 1.25 × 4 × 1' : 'topped up $10.00 by redemption code',
        username: ['root', 'mei', 'ken'][index % 3] ?? '',
        token_name: consumes ? (tokens[index % 3]?.[0] ?? '') : '',
        model_name: consumes ? (models[(index * index) % models.length] ?? '') : '',
        quota: spent,
        prompt_tokens: consumes ? (index * 31) % 9000 : 0,
        completion_tokens: consumes ? (index * 17) % 900 : 0,
        channel_id: 1 + (index % 4),
        request_id: `request-${index}`,
        elapsed_time: 400 + ((index * 97) % 9000),
        is_stream: index % 2,
        token_id: 1 + (index % 3),
        first_byte_time: 90 + ((index * 13) % 900),
        cached_tokens: index % 5 === 0 ? 128 : 0,
        outcome: index % 41 === 0 ? 'interrupted' : 'complete',
        attempts: index % 11 === 0 ? failover : '',
      })
    }
    log({
      created_at: seededRequestAt + 3,
      content: 'ratio: 1 × 4 × 1',
      token_name: tokens[0]?.[0] ?? '',
      model_name: models[0] ?? '',
      quota: 1800,
      prompt_tokens: 1000,
      completion_tokens: 200,
      channel_id: 2,
      request_id: seededRequest,
      elapsed_time: 2900,
      is_stream: 1,
      token_id: 1,
      first_byte_time: 700,
      attempts: failover,
      request: JSON.stringify(seededDescription),
    })
    const byName = (table: string, column: string) => database.prepare(`update ${table} set ${column} where name = ?`)
    for (const [name, type, status, ms] of channels) {
      byName('channels', 'type = ?, status = ?, response_time = ?, test_time = ?, balance = 12.5').run(
        type,
        status,
        ms,
        ms === 0 ? 0 : now - 3600,
        name,
      )
    }
    for (const [name, status, left, used, expiry, unlimited] of tokens) {
      byName(
        'tokens',
        'status = ?, remain_quota = ?, used_quota = ?, expired_time = ?, unlimited_quota = ?, accessed_time = ?',
      ).run(status, left, used, expiry === -1 ? -1 : now + expiry, unlimited, now - 600, name)
    }
    for (const [name, display, group, , status] of people) {
      database
        .prepare('update users set display_name = ?, "group" = ?, status = ?, used_quota = ? where username = ?')
        .run(display, group, status, 12_345_678, name)
    }
    database.run('update users set quota = 25000000, used_quota = 3500000, request_count = 412 where id = 1')
    const limits = 'rpm_limit = 600, daily_budget = 50000000, monthly_budget = 100000000'
    for (const table of ['users', 'tokens']) {
      const spent = `spent_today = 10000000, spent_month = 90000000, spent_at = ${now}`
      database.run(`update ${table} set ${limits}, ${spent} where id in (1, 2)`)
    }
    database.run(`update redemptions set status = 3, redeemed_time = ${now - day}, redeemed_user_id = 2 where id = 1`)
    database.run('update redemptions set status = 2 where id = 2')
  })()
}
