import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportReport } from '../../contract/api/import.ts'
import { quotaOf } from '../../server/import/litellm/money.ts'
import { openStore } from '../../server/store/connection/open.ts'
import { forEachDatabaseUrl } from '../helpers/databases.ts'
import { ok, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { Installation } from '../helpers/gateway-process.ts'
import { postgresMissing } from '../helpers/postgres.ts'
import { imported, sum } from './imported.ts'
import {
  boxed,
  fillLitellm,
  gcmSealed,
  onLitellm,
  type SmallRow,
  saltKey,
  sha256,
  smallLitellm,
} from './litellm-samples.ts'

const found = (report: ImportReport, words: string) => report.findings.find(({ text }) => text.includes(words))

/** A key of a user, a key of a team, a key of nobody, and a channel. */
function smallRows(seal = boxed): Record<string, SmallRow[]> {
  const key = (text: string, rest: SmallRow): SmallRow => ({
    token: sha256(text),
    key_name: 'sk-...abcd',
    key_alias: text.slice(3),
    models: [],
    ...rest,
  })
  return {
    BudgetTable: [{ budget_id: 'b1', max_budget: 3, budget_duration: '30d', rpm_limit: 7 }],
    TeamTable: [{ team_id: 't1', team_alias: 'research', max_budget: 10, spend: 1, models: ['gpt-4o', 'other'] }],
    UserTable: [
      { user_id: 'u1', user_email: 'mia@example.com', user_role: 'proxy_admin', max_budget: 2, spend: 0.0000005 },
      { user_id: 'u2', user_alias: 'Free', user_role: 'internal_user' },
    ],
    VerificationToken: [
      key('sk-of-mia', { user_id: 'u1', max_budget: 1, spend: 0.25, budget_duration: '7d' }),
      key('sk-of-team', { team_id: 't1', models: ['all-team-models'], tpm_limit: 900, max_parallel_requests: 4 }),
      key('sk-of-nobody', { budget_id: 'b1' }),
      key('sk-of-missing', { user_id: 'gone', models: ['openai/*'] }),
      key('sk-narrow', { user_id: 'u2', allowed_routes: ['/key/info'] }),
      key('sk-daily', { user_id: 'u2', max_budget: 0.5, budget_duration: '1d', expires: '2030-01-01 00:00:00' }),
      { token: 'not a hash', key_alias: 'odd' },
    ],
    ProxyModelTable: [
      {
        model_id: 'm1',
        model_name: 'gpt-4o',
        litellm_params: {
          model: seal('openai/gpt-4o-2024'),
          api_key: seal('sk-upstream'),
          api_base: seal('http://127.0.0.1:9/v1'),
          input_cost_per_token: 0.000002,
          output_cost_per_token: 0.000006,
          rpm: 5,
        },
        model_info: {},
      },
      {
        model_id: 'm2',
        model_name: 'odd',
        litellm_params: { model: seal('strange_cloud/x'), api_key: seal('k') },
        model_info: {},
      },
    ],
    Config: [{ param_name: 'router_settings', param_value: { num_retries: 2, fallbacks: [{ 'gpt-4o': ['odd'] }] } }],
    SpendLogs: [
      logRow('r1', 'sk-of-mia', 'u1', 0.0000125),
      logRow('r2', 'sk-of-team', '', 0.000003),
      { ...logRow('r3', 'sk-of-mia', 'u1', 0), status: 'failure' },
    ],
  }
}

const logRow = (id: string, key: string, user: string, spend: number): SmallRow => ({
  request_id: id,
  api_key: sha256(key),
  spend,
  prompt_tokens: 3,
  completion_tokens: 1,
  model: 'gpt-4o',
  user,
  model_id: 'm1',
  startTime: '2026-11-01 10:00:00',
  endTime: '2026-11-01 10:00:02',
})

test('dollars become units by their shortest decimal notation, rounded half up', () => {
  const cases: [unknown, number][] = [
    [0.00046545, 233],
    [0.000001, 1],
    [9.99e-7, 0],
    [0.000003, 2],
    [1e-9, 0],
    [2.5, 1_250_000],
    [0.1 + 0.2, 150_000],
    [1e21, 1e15],
    [-0.000005, -3],
    ['0.5', 250_000],
    [null, 0],
    [Number.NaN, 0],
  ]
  for (const [dollars, units] of cases) expect([dollars, quotaOf(dollars, 500_000)]).toEqual([dollars, units])
})

describe('config.yaml alone', () => {
  test('becomes channels, whose keys come from the environment', async () => {
    await using installation = new Installation(undefined, { UP_KEY: 'sk-from-environment', UNSET_KEY: undefined })
    await installation.create()
    const file = join(installation.folder, 'config.yaml')
    writeFileSync(
      file,
      `model_list:
  - {model_name: gpt-4o, litellm_params: {model: gpt-4o, api_key: os.environ/UP_KEY, weight: 3, order: 2}}
  - {model_name: claude, litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: os.environ/UNSET_KEY}}
  - {model_name: own, litellm_params: {model: hosted_vllm/qwen, api_base: "http://127.0.0.1:9/v1"}}
  - {model_name: stolen, litellm_params: {model: openai/x, api_key: os.environ/SECRET_KEY}}
  - {model_name: aws, litellm_params: {model: bedrock/converse/anthropic.claude-3, aws_access_key_id: A, aws_secret_access_key: B, aws_region_name: eu-west-1}}
  - {model_name: "gpt-*", litellm_params: {model: "openai/*", api_key: k}}
general_settings: {master_key: sk-master-1}
`,
    )
    const report = await imported(installation, '--from', file)
    expect(report).toMatchObject({ program: 'LiteLLM', added: { users: 0, tokens: 0, channels: 5, logs: 0 } })
    for (const words of ['has a name pattern', 'master key is not imported', 'environment that is not set'])
      expect([words, found(report, words)?.count]).toEqual([words, words.startsWith('environment') ? 2 : 1])
    const store = openStore({ url: installation.databaseUrl })
    const channels = await store.read
      .selectFrom('channels')
      .select(['models', 'type', 'status', 'weight', 'priority', 'model_mapping', 'base_url'])
      .execute()
    const by = new Map(channels.map((each) => [each.models, each]))
    expect(by.get('gpt-4o')).toMatchObject({ type: 1, status: 1, weight: 3, priority: -2 })
    expect(by.get('claude')).toMatchObject({ type: 14, status: 2 })
    expect(by.get('own')).toMatchObject({ type: 50, status: 1, base_url: 'http://127.0.0.1:9/v1' })
    expect(by.get('stolen')).toMatchObject({ status: 2 })
    expect(JSON.parse(by.get('aws')?.model_mapping ?? '')).toEqual({ aws: 'anthropic.claude-3' })
    expect(await imported(installation, '--from', file)).toMatchObject({ mode: 'again', added: { channels: 0 } })
    await store.close()
  })

  test('that cannot be used is reported, and nothing changes', async () => {
    await using installation = new Installation()
    await installation.create()
    const cases: [name: string, text: string, words: string][] = [
      ['a.yaml', 'model_list: [unclosed', 'is not valid YAML'],
      ['b.yaml', 'services: {}', 'has no model_list'],
      ['c.yml', 'model_list: 7', 'has no model_list'],
      ['d.yaml', '- 1', 'has no model_list'],
    ]
    for (const [name, text, words] of cases) {
      const file = join(installation.folder, name)
      writeFileSync(file, text)
      const { code, output } = await installation.run('import', '--from', file)
      expect([name, code, output]).toEqual([name, 1, expect.stringContaining(words)])
      expect(output.trim().split('\n').length).toBeLessThan(4)
    }
  })
})

describe.skipIf(postgresMissing !== undefined)(`LiteLLM's database (${postgresMissing ?? 'small'})`, () => {
  test('that was encrypted with another key is refused with a clear message, and nothing changes', async () => {
    for (const seal of [boxed, gcmSealed]) {
      const from = await smallLitellm(smallRows(seal))
      for (const [key, words] of [
        ['sk-wrong', 'encrypted with another key'],
        [undefined, 'Set LITELLM_SALT_KEY'],
      ] as const) {
        await using installation = new Installation(undefined, { LITELLM_SALT_KEY: key })
        await installation.create()
        const { code, output } = await installation.run('import', '--from', from)
        expect([code, output]).toEqual([1, expect.stringContaining(words)])
        const store = openStore({ url: installation.databaseUrl })
        expect(await store.read.selectFrom('imports').selectAll().execute()).toEqual([])
        expect(await store.read.selectFrom('channels').selectAll().execute()).toEqual([])
        await store.close()
      }
    }
  }, 120_000)

  forEachDatabaseUrl((target, freshUrl) => {
    const url = async () => (target === 'postgres' ? await freshUrl() : undefined)

    test('becomes users, tokens with limits, channels and log rows; a key works, and the gateway stores it when it is first used', async () => {
      const from = await smallLitellm(smallRows(gcmSealed))
      await using upstream = await startFakeUpstream()
      upstream.always(ok({ text: 'a a a a', promptTokens: 10 }))
      // Without a salt key, LiteLLM encrypts with its master key.
      await using installation = new Installation(await url(), { LITELLM_MASTER_KEY: saltKey })
      await installation.create()
      const report = await imported(installation, '--from', from)
      expect(report.added).toEqual({ users: 5, tokens: 6, channels: 2, codes: 0, logs: 3 })
      for (const { name, there, corrected, here } of report.sums)
        expect([name, here]).toEqual([name, there + corrected])
      expect(sum(report, 'quota of charges')?.here).toBe(6 + 2)
      for (const words of [
        'An account is created that owns it',
        'not stored as a SHA-256',
        'only some paths',
        'A pattern among the models',
        'is renewed after a time',
        'The user has no budget in the source',
        'strange_cloud has no counterpart',
        'The parameter rpm of the deployment',
        'Create a virtual model for this',
        "LiteLLM's passwords cannot be used",
      ])
        expect([words, found(report, words) !== undefined]).toEqual([words, true])
      expect((await installation.run('audit')).output).toContain('0 faults.')

      const store = openStore({ url: installation.databaseUrl })
      const tokens = await store.read
        .selectFrom('tokens')
        .innerJoin('users', 'users.id', 'tokens.user_id')
        .select(['tokens.name', 'users.username', 'tokens.status', 'tokens.models', 'tokens.remain_quota'])
        .select(['tokens.unlimited_quota', 'tokens.tpm_limit', 'tokens.rpm_limit', 'tokens.concurrency_limit'])
        .select(['tokens.daily_budget', 'tokens.monthly_budget', 'tokens.expired_time'])
        .execute()
      const by = new Map(tokens.map((each) => [each.name, each]))
      expect(by.get('of-mia')).toMatchObject({ username: 'mia@example.com', remain_quota: 375_000, expired_time: -1 })
      expect(by.get('of-team')).toMatchObject({
        username: 'team-research',
        models: 'gpt-4o,other',
        tpm_limit: 900,
        concurrency_limit: 4,
      })
      expect(by.get('of-nobody')).toMatchObject({ username: 'litellm-keys', rpm_limit: 7, monthly_budget: 1_500_000 })
      expect(by.get('of-missing')).toMatchObject({ username: 'gone', status: 2 })
      expect(by.get('narrow')).toMatchObject({ username: 'Free', status: 2 })
      expect(by.get('daily')).toMatchObject({ daily_budget: 250_000, expired_time: 1_893_456_000 })
      const users = await store.read.selectFrom('users').select(['username', 'role', 'quota', 'used_quota']).execute()
      expect(users).toContainEqual({ username: 'mia@example.com', role: 10, quota: 1_000_000, used_quota: 0 })
      expect(users).toContainEqual({ username: 'team-research', role: 1, quota: 4_500_000, used_quota: 500_000 })

      await store.write((trx) => trx.updateTable('channels').set({ base_url: upstream.url }).execute())
      const exported = await installation.run(
        'export',
        '--format',
        'one-api',
        '-o',
        join(installation.folder, 'back.db'),
      )
      expect(exported.output).toMatch(/are not exported: .*of-mia/)
      const tokenOf = async () =>
        store.read
          .selectFrom('tokens')
          .select(['key', 'key_hash', 'remain_quota'])
          .where('name', '=', 'of-mia')
          .executeTakeFirstOrThrow()
      const gateway = await installation.start()
      const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] }
      const before = await tokenOf()
      // Several simultaneous first calls find the same token.
      const answers = await Promise.all([1, 2, 3, 4].map(() => gateway.post('/v1/chat/completions', body, 'sk-of-mia')))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      await Promise.all(answers.map((each) => each.text()))
      const after = await tokenOf()
      expect(before.remain_quota - after.remain_quota).toBe(4 * (10 + 4 * 3))
      expect(after.key_hash).not.toBe(before.key_hash)
      expect((await gateway.post('/v1/chat/completions', body, 'sk-of-mia')).status).toBe(200)
      for (const stolen of [`sk-${sha256('sk-of-team')}`, `sk-sha256:${sha256('sk-of-team')}`])
        expect((await gateway.post('/v1/chat/completions', body, stolen)).status).toBe(401)
      await gateway.stop()
      await store.close()
      expect((await installation.run('audit')).output).toContain('0 faults.')
    }, 120_000)

    test('is merged into existing data with --merge, and a later run imports new rows', async () => {
      const from = await smallLitellm(smallRows())
      await using installation = new Installation(await url(), { LITELLM_SALT_KEY: saltKey })
      const gateway = await installation.start()
      await gateway.api('POST', '/api/user/', { username: 'Free', password: 'long enough 1' })
      await gateway.stop()
      const refused = await installation.run('import', '--from', from)
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('(--merge)')])
      const report = await imported(installation, '--from', from, '--merge')
      expect(report).toMatchObject({ mode: 'merge', added: { users: 5, tokens: 6, channels: 2, logs: 3 } })
      await onLitellm(from, `update "LiteLLM_UserTable" set spend = spend + 0.5 where user_id = 'u1'`)
      await onLitellm(from, `delete from "LiteLLM_VerificationToken" where key_alias = 'narrow'`)
      await fillLitellm(from, {
        UserTable: [{ user_id: 'u3', user_alias: 'late', max_budget: 1 }],
        SpendLogs: [{ ...logRow('r4', 'sk-of-mia', 'u1', 0.5), endTime: '2026-11-01 10:00:09' }],
      })
      const again = await imported(installation, '--from', from)
      expect(again).toMatchObject({ mode: 'again', added: { users: 1, tokens: 0, channels: 0, logs: 1 } })
      const store = openStore({ url: installation.databaseUrl })
      const users = await store.read.selectFrom('users').select(['username', 'quota', 'used_quota']).execute()
      expect(users).toContainEqual({ username: 'mia@example.com', quota: 750_000, used_quota: 250_000 })
      expect(users.map(({ username }) => username)).toContain('Free-import')
      await store.close()
      expect((await installation.run('audit')).output).toContain('0 faults.')
      expect(readFileSync(report.leftoversFile, 'utf8')).not.toContain('sk-upstream')
    }, 120_000)
  })
})
