import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConfigPlan } from '../../contract/api/config.ts'
import { forEachDatabaseUrl } from '../../test/helpers/databases.ts'
import { ok, startFakeUpstream } from '../../test/helpers/fake-upstream.ts'
import { Installation } from '../../test/helpers/gateway-process.ts'
import { answer, messages, newToken, promptTokens } from '../../test/money/installed.ts'
import { openStore } from '../store/connection/open.ts'

/** The variables that contain secrets of the installation itself. */
const secretVariables = [
  'SECRET_KEY',
  'DATABASE_URL',
  'SQL_DSN',
  'INITIAL_ROOT_PASSWORD',
  'INITIAL_ROOT_TOKEN',
  'INITIAL_ROOT_ACCESS_TOKEN',
  'METRICS_TOKEN',
  'LOG_SINK_URL',
  'TOLLGATE_BACKUP_PASSPHRASE',
  'TOLLGATE_EXPORT_PASSPHRASE',
  'TOLLGATE_NEW_SECRET_KEY',
]

const file = (upstream: string) => `
version: 1
options:
  SystemName: Acme
  QuotaForNewUser: 5000
  EmailDomainWhitelist: [acme.example, "@Example.org"]
  SMTPToken: \${SMTP_TOKEN}
groups:
  default: { ratio: 1, limits: { rpm_limit: 600 }, channel_order: latency }
  vip: { ratio: 0.5 }
prices:
  house-model: { ratio: 2, completion_ratio: 3 }
  picture: { price: 0.04 }
tool_prices: { web_search: 0.02 }
channels:
  - name: main
    type: openai
    base_url: ${upstream}/
    key: \${MAIN_KEY}
    models: [house-model]
    groups: [default, vip]
    headers: { x-team: blue, x-secret-token: "tok-\${MAIN_KEY}" }
    limits: [{ metric: requests, window: minute, most: 500 }]
  - name: spare
    type: openai
    base_url: ${upstream}
    keys: ["\${MAIN_KEY}", { file: SECRET_FILE }]
    models: [house-model]
    priority: -1
    model_mapping: { house-model: other-model }
    config: { first_byte_timeout: 20 }
virtual_models:
  - name: house
    steps: [{ model: house-model }, { model: picture, group: vip }]
    failures: [timeout, no_channel]
    price: { input: 1, output: 2 }
alert_destinations:
  - name: ops
    kind: webhook
    url: "https://hook.example/\${MAIN_KEY}"
    secret: "\${SMTP_TOKEN}"
  - name: desk
    kind: mail
    to: desk@example.com
alert_rules:
  - name: main is down
    kind: channel_disabled
    channel: main
    destinations: [ops, desk]
`

forEachDatabaseUrl((name, freshUrl) => {
  async function install() {
    const url = name === 'postgres' ? await freshUrl() : undefined
    const env = { MAIN_KEY: 'sk-main-key-1', SMTP_TOKEN: 'mail-password' }
    const installation = new Installation(url, env)
    const gateway = await installation.start()
    const write = (text: string, as = 'gateway.yaml') => {
      const path = join(installation.folder, as)
      writeFileSync(path, text)
      return path
    }
    const apply = (path: string, ...options: string[]) => installation.run('apply', '-f', path, ...options)
    const plan = async (path: string, ...options: string[]): Promise<ConfigPlan> => {
      const { output } = await apply(path, '--dry-run', '--json', ...options)
      return JSON.parse(output) as ConfigPlan
    }
    return {
      installation,
      gateway,
      write,
      apply,
      plan,
      [Symbol.asyncDispose]: () => installation[Symbol.asyncDispose](),
    }
  }

  test('apply sets up the installation from a file, changes nothing the second time, and shows drift', async () => {
    await using upstream = await startFakeUpstream()
    upstream.always(ok({ text: answer, promptTokens }))
    await using it = await install()
    const secretFile = join(mkdtempSync(join(tmpdir(), 'tollgate-')), 'secret')
    writeFileSync(secretFile, 'sk-spare-key-2\n')
    const path = it.write(file(upstream.url).replace('SECRET_FILE', secretFile))

    const dry = await it.apply(path, '--dry-run')
    expect(dry.code).toBe(0)
    expect(dry.output).toContain('+ channels: main')
    expect(dry.output).toContain('SystemName')
    for (const secret of ['sk-main-key-1', 'mail-password', 'sk-spare-key-2', 'tok-'])
      expect(dry.output).not.toContain(secret)
    expect(await it.gateway.api<unknown[]>('GET', '/api/channel/')).toEqual([])

    // Without a terminal, the command cannot ask for confirmation, so it ends with an exit code for scripts. It runs as
    // a separate process here to test this code. The same is true for the dry run below that finds a difference.
    const unasked = await it.installation.runProcess('apply', '-f', path)
    expect([unasked.code, await it.gateway.api<unknown[]>('GET', '/api/channel/')]).toEqual([4, []])
    expect(unasked.output).toContain('--yes')

    const first = await it.apply(path, '--yes')
    expect(first.output).toContain('Applied.')
    expect(first.code).toBe(0)
    const again = await it.apply(path, '--yes')
    expect([again.code, again.output]).toEqual([0, expect.stringContaining('No differences.')])
    expect((await it.apply(path, '--dry-run', '--exit-code')).code).toBe(0)

    const [spare, main] = await it.gateway.api<{ id: number; name: string; key_count: number; managed_by: string }[]>(
      'GET',
      '/api/channel/',
    )
    expect(main).toMatchObject({ name: 'main', group: 'default,vip', headers: { 'x-team': 'blue' }, status: 1 })
    expect(spare).toMatchObject({ key_mode: 'multi', key_count: 2, model_mapping: '{"house-model":"other-model"}' })

    // The channel keys were read from the environment. A call is sent with one of them, and is charged at the prices in
    // the file.
    const token = await newToken(it.gateway, 1_000_000)
    await expectEventually(async () => {
      const response = await it.gateway.post('/v1/chat/completions', { model: 'house-model', messages }, token.key)
      expect(response.status).toBe(200)
      await response.text()
    })
    expect(upstream.requests.at(-1)?.headers.get('authorization')).toBe('Bearer sk-main-key-1')
    expect(upstream.requests.at(-1)?.headers.get('x-secret-token')).toBe('tok-sk-main-key-1')

    // Changes by hand count as drift from the file.
    await it.gateway.api('PUT', '/api/channel/', { id: main?.id, priority: 7, key: 'sk-by-hand' })
    await it.gateway.api('PUT', '/api/option/', { key: 'SystemName', value: 'By hand' })
    await it.gateway.api('POST', '/api/channel/', { name: 'by hand', type: 1, key: 'sk-x', models: 'm' })
    const drift = await it.plan(path)
    expect(
      drift.changes.map(({ section, name, op, fields }) => [op, section, name, fields.map((each) => each.field)]),
    ).toEqual([
      ['change', 'options', 'SystemName', ['value']],
      ['change', 'channels', 'main', ['priority', 'key']],
    ])
    expect(drift.unlisted).toContainEqual({ section: 'channels', name: 'by hand' })
    const told = await it.installation.runProcess('apply', '-f', path, '--dry-run', '--exit-code')
    expect(told.code).toBe(5)
    expect(told.output).toContain('priority: 7 → 0')
    expect(told.output).not.toContain('sk-by-hand')
    expect((await it.apply(path, '--yes')).code).toBe(0)
    expect((await it.plan(path)).changes).toEqual([])

    // Only prune removes entries, and only in sections that are in the file.
    const pruned = await it.plan(path, '--prune')
    expect(pruned.changes.map(({ op, section, name }) => `${op} ${section} ${name}`)).toContain(
      'remove channels by hand',
    )
    expect((await it.apply(path, '--prune')).code).toBe(4)
    expect((await it.apply(path, '--prune', '--yes')).code).toBe(0)
    const left = await it.gateway.api<{ name: string }[]>('GET', '/api/channel/')
    expect(left.map((channel) => channel.name).sort()).toEqual(['main', 'spare'])
    // On SQLite, a running server checks for changes by other processes every ten seconds.
    await expectEventually(async () => {
      const ratios = await it.gateway.api<object>('GET', '/api/group/ratios')
      expect(Object.keys(ratios).sort()).toEqual(['default', 'vip'])
    })

    const events = await it.gateway.api<{ action: string; actor_name: string; detail: string }[]>('GET', '/api/audit/')
    expect(events.map(({ action }) => action)).toContain('config.apply')
    expect(events.find(({ action }) => action === 'config.apply')?.actor_name).toBe('command line')
    expect(JSON.stringify(events)).not.toMatch(/sk-main|sk-spare|mail-password/)
    expect((await it.installation.run('audit')).code).toBe(0)
  }, 180_000)

  test('apply with an exported file changes nothing in the same installation, and makes a new installation equal to it', async () => {
    await using one = await install()
    const path = one.write(file('https://up.example').replace('{ file: SECRET_FILE }', 'sk-second'))
    expect((await one.apply(path, '--yes')).output).toContain('Applied.')
    const exported = await one.installation.run('export', '--format', 'yaml')
    expect(exported.output).not.toMatch(/sk-main|sk-second|mail-password|tok-/)
    expect(exported.output).toContain(`key: \${MAIN_KEY}`)
    const silent = await one.installation.run('export', '--format', 'yaml', '--no-secrets')
    expect(silent.output).not.toContain(`\${`)
    expect(await one.plan(one.write(silent.output, 'silent.yaml'), '--prune')).toMatchObject({
      changes: [],
      unlisted: [],
    })

    await using other = new Installation(name === 'postgres' ? await freshUrl() : undefined, {
      MAIN_KEY: 'sk-main-key-1',
      SPARE_KEY_1: 'sk-main-key-1',
      SPARE_KEY_2: 'sk-second',
      SMTPTOKEN: 'mail-password',
      SMTP_TOKEN: 'mail-password',
      MAIN_X_SECRET_TOKEN: 'tok-sk-main-key-1',
      ALERT_OPS_URL: 'https://hook.example/sk-main-key-1',
      ALERT_OPS_SECRET: 'mail-password',
      ALERT_DESK_TO: 'desk@example.com',
    })
    await other.start()
    const copy = join(other.folder, 'copy.yaml')
    writeFileSync(copy, exported.output)
    const applied = await other.run('apply', '-f', copy, '--yes')
    expect(applied.output).toContain('Applied.')
    const round = await other.run('export', '--format', 'yaml')
    expect(round.output).toBe(exported.output)
    // The original file is equivalent to the export.
    const same = await other.run('apply', '-f', path, '--dry-run', '--json')
    expect(JSON.parse(same.output)).toMatchObject({ changes: [] })
  }, 180_000)

  test('apply reports an invalid file in one sentence with the position of the error, and changes nothing', async () => {
    await using it = await install()
    const entry = (fields: string) =>
      `version: 1\noptions:\n  SystemName: Other\nchannels:\n  - name: a\n    type: openai\n    models: [m]\n    key: sk-a\n${fields}`
    const bomb = `version: 1\na: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'
      .split('')
      .map((letter, at) => `${letter}: &${letter} [${Array(9).fill(`*${'abcdefghij'[at]}`).join(',')}]`)
      .join('\n')}\n`
    const cases: [text: string, words: string][] = [
      ['', 'The file is empty'],
      ['version: 2\n', 'version must be 1'],
      ['options: {}\n', 'version'],
      ['version: 1\n---\nversion: 1\n', 'second document'],
      ['version: 1\noptions:\n  SystemName: a\n  SystemName: b\n', 'line 4, column 3: '],
      ['version: 1\noptions: [\n', 'line 3'],
      [
        'version: 1\noptions:\n  SystemNme: x\n',
        'line 3, column 3: options has an unknown field "SystemNme". Did you mean SystemName?',
      ],
      [
        'version: 1\nchanels: []\n',
        'line 2, column 1: the file has an unknown field "chanels". Did you mean channels?',
      ],
      ['version: 1\noptions:\n  QuotaForNewUser: lots\n', 'line 3, column 3: options.QuotaForNewUser must be a number'],
      ['version: 1\noptions:\n  RetryTimes: -1\n', 'options.RetryTimes must be at least 0'],
      ['version: 1\noptions:\n  GitHubOAuthEnabled: true\n', 'Set GitHubClientId'],
      ['version: 1\nprices: { m: { ratio: -1 } }\n', 'prices.m.ratio must be at least 0'],
      ['version: 1\nprices: { m: { ratio: 0.00000001 } }\n', 'prices'],
      [entry('    base_url: ftp://x\n'), 'channels: "a": base_url must be a URL'],
      [entry('    base_url: http://169.254.169.254/\n'), 'cloud metadata'],
      [entry('    headers: { authorization: x }\n'), 'may not set the header authorization'],
      [entry('    weight: heavy\n'), 'line 9, column 5: channels[0].weight must be a number'],
      [entry('    colour: red\n'), 'channels[0] has an unknown field "colour"'],
      [entry('    keys: [b]\n'), 'either key or keys'],
      [
        entry('  - name: a\n    type: openai\n    models: [m]\n    key: k\n'),
        'line 9, column 5: channels: the name "a" occurs twice',
      ],
      [entry('').replace('type: openai', 'type: opnai'), 'there is no channel type opnai; did you mean openai?'],
      [entry('').replace('    key: sk-a\n', ''), 'a new channel needs a key'],
      [
        entry('').replace('sk-a', `\${NO_SUCH_VARIABLE}`),
        'line 8, column 5: The environment variable NO_SUCH_VARIABLE is not set',
      ],
      ...secretVariables.map(
        (name) => [entry('').replace('sk-a', `\${${name}}`), `must not refer to ${name}`] as [string, string],
      ),
      [entry('').replace('sk-a', '{ file: /no/such/file }'), 'There is no file /no/such/file'],
      [
        entry('').replace('sk-a', `{ file: ${it.installation.folder}/tollgate.db }`),
        name === 'sqlite' ? 'data folder' : 'no file',
      ],
      [entry('').replace('sk-a', '{ file: relative }'), 'must be absolute'],
      [
        'version: 1\nalert_rules: [{ name: r, kind: channel_disabled, channel: nobody }]\n',
        'no channel named "nobody"',
      ],
      [
        'version: 1\nvirtual_models: [{ name: a, steps: [{ model: b }] }, { name: b, steps: [{ model: a }] }]\n',
        'circle: a → b → a',
      ],
      [
        'version: 1\nvirtual_models: [{ name: a, steps: [{ model: m }], price: { input: 1 } }]\n',
        'Enter a price for input and output',
      ],
      ['version: 1\nalert_rules: [{ name: r, kind: own_balance, threshold: 1 }]\n', 'kind'],
      [bomb, 'repeats its anchors'],
      ['version: 1\noptions: &a { SystemName: *a }\n', 'levels deep'],
      [`version: 1\noptions: ${'['.repeat(100_000)}`, 'levels deep'],
      [`version: 1\noptions:\n  ${'- '.repeat(100_000)}x\n`, 'levels deep'],
      ['version: 1\noptions: !!js/function "x"\n', 'line 2'],
      ['version: 1\noptions:\n  __proto__: { SystemName: x }\n', 'unknown field "__proto__"'],
      ['version: 1\noptions:\n  SystemName: "a\\0b"\n', 'NUL'],
      ['just words\n', 'must be an object'],
      [`version: 1\noptions:\n  Notice: ${'x'.repeat(600_000)}\n`, 'at most 500000'],
    ]
    for (const [text, words] of cases) {
      const { code, output } = await it.apply(it.write(text), '--yes')
      expect([text.slice(0, 200), output, code]).toEqual([text.slice(0, 200), expect.stringContaining(words), 1])
      expect(output.trim().split('\n').length).toBe(1)
    }
    const huge = await it.apply(it.write(`version: 1 # ${'x'.repeat(40 * 1024 * 1024)}\n`), '--yes')
    expect([huge.code, huge.output]).toEqual([1, expect.stringContaining('larger than 4 MiB')])
    const binary = join(it.installation.folder, 'binary.yaml')
    writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x00]))
    expect((await it.apply(binary)).output).toContain('is not UTF-8')
    expect((await it.apply('/no/such.yaml')).output).toContain('There is no file /no/such.yaml')
    expect((await it.installation.run('apply')).code).toBe(2)

    // Channels with the same name cannot be distinguished.
    for (const key of ['a', 'b'])
      await it.gateway.api('POST', '/api/channel/', { name: 'twin', type: 1, key, models: 'm' })
    const twins = entry('').replace('name: a', 'name: twin')
    const refused = await it.apply(it.write(twins), '--yes')
    expect(refused.output).toMatch(/line 5, column 5: There are 2 channels named "twin" \(ids \d+, \d+\)\. Rename/)
    expect((await it.installation.run('export', '--format', 'yaml')).output).toContain(
      'There are 2 channels named "twin"',
    )

    const store = openStore({ url: it.installation.databaseUrl })
    expect(await store.read.selectFrom('options').select('key').where('key', '=', 'SystemName').execute()).toEqual([])
    expect(await store.read.selectFrom('channels').select('name').execute()).toEqual([
      { name: 'twin' },
      { name: 'twin' },
    ])
    await store.close()
    expect(readFileSync(it.write('x'), 'utf8')).toBe('x')
  }, 180_000)
})

async function expectEventually(work: () => Promise<void>): Promise<void> {
  const until = Date.now() + 15_000
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
