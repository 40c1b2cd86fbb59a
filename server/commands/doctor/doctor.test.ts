import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forEachDatabaseUrl } from '../../../test/helpers/databases.ts'
import { closedPort, startFakeUpstream } from '../../../test/helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../../../test/helpers/gateway-process.ts'
import { startMailServer } from '../../../test/helpers/mail-server.ts'

interface Report {
  findings: { check: string; state: string; text: string; advice?: string }[]
  ok: number
  warn: number
  fail: number
}

type Handling = 'append' | 'keep' | 'none'

/** A reverse proxy in front of a gateway, which may buffer responses. */
function startProxy(target: () => string, options: { buffers: boolean; forwarded: Handling }) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const url = new URL(request.url)
      const headers = new Headers(request.headers)
      const old = headers.get('x-forwarded-for')
      if (options.forwarded === 'append') headers.set('x-forwarded-for', old ? `${old}, 198.51.100.4` : '198.51.100.4')
      if (options.forwarded === 'none') headers.delete('x-forwarded-for')
      const response = await fetch(`${target()}${url.pathname}${url.search}`, { headers, method: request.method })
      return options.buffers ? new Response(await response.arrayBuffer(), response) : response
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** An upstream whose responses have the given headers. */
function startUpstream(headers: Record<string, string>) {
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(`${request.method} ${request.headers.get('authorization')}`)
      return new Response(null, { headers })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, asked, headers, [Symbol.asyncDispose]: () => server.stop(true) }
}

forEachDatabaseUrl((name, freshUrl) => {
  const install = async (env: Record<string, string> = {}) =>
    new Installation(name === 'postgres' ? await freshUrl() : undefined, env)
  const doctor = async (installation: Installation) => {
    const { code, output } = await installation.run('doctor', '--json')
    const report = JSON.parse(output) as Report
    const of = (check: string) => report.findings.filter((finding) => finding.check === check)
    return { code, report, of, states: (check: string) => of(check).map(({ state }) => state) }
  }
  const setAddress = (gateway: GatewayProcess, value: string) =>
    gateway.api('PUT', '/api/option/', { key: 'ServerAddress', value })

  test('doctor finds no failure in a healthy installation, and gives advice for each finding that is not ok', async () => {
    await using upstream = startUpstream({ date: new Date(Date.now() - 3_600_000).toUTCString() })
    await using smtp = await startMailServer()
    await using installation = await install()
    const gateway = await installation.start()
    const empty = await doctor(installation)
    expect([empty.code, empty.states('channels')]).toEqual([1, ['fail']])

    await gateway.api('POST', '/api/channel/', {
      ...{ name: 'main', type: 1, key: 'sk-never-shown', models: 'gpt-4o,no-such-model', base_url: upstream.url },
    })
    await setAddress(gateway, gateway.url)
    for (const [key, value] of Object.entries({
      SMTPServer: '127.0.0.1',
      SMTPPort: String(smtp.port),
      SMTPFrom: 'a@b.example',
    }))
      await gateway.api('PUT', '/api/option/', { key, value })
    const late = await doctor(installation)
    expect([late.code, late.of('clock').at(-1)]).toEqual([
      1,
      expect.objectContaining({ state: 'fail', text: expect.stringContaining('that of the upstreams') }),
    ])
    upstream.headers['date'] = new Date().toUTCString()
    const { code, report, of } = await doctor(installation)
    // The PostgreSQL server of the tests may lose data in a power cut. The doctor reports this correctly, so these
    // failures are ignored.
    const failures = report.findings.filter(({ state }) => state === 'fail')
    expect(failures.filter(({ text }) => !/^(?:fsync|full_page_writes|synchronous_commit) is off/.test(text))).toEqual(
      [],
    )
    expect([code, report.fail]).toEqual(name === 'sqlite' ? [0, 0] : [Math.sign(failures.length), failures.length])
    expect(of('mail')).toEqual([{ check: 'mail', state: 'ok', text: expect.stringContaining('accepts the login') }])
    expect(smtp.mails).toEqual([])
    expect(of('prices')[0]).toMatchObject({ state: 'warn', text: expect.stringContaining('no-such-model') })
    expect(of('clock').at(-1)?.state).not.toBe('fail')
    expect(
      of('channels')
        .map(({ text }) => text)
        .join(' '),
    ).toContain('main was never tested')
    expect(of('proxy').map(({ state, text }) => [state, text])).toEqual([
      ['ok', 'Events of a stream arrive one at a time.'],
      ['ok', 'The server sees this machine as 127.0.0.1.'],
    ])
    // The only request to an upstream is one without a key.
    expect(new Set(upstream.asked)).toEqual(new Set(['HEAD null']))
    for (const finding of report.findings) expect(finding.state === 'ok').toBe(finding.advice === undefined)
    expect(JSON.stringify(report)).not.toContain('sk-never-shown')
    const { output } = await installation.run('doctor')
    expect(output).toMatch(/^ok {4}configuration: /m)
    expect(output).toMatch(/\d+ ok, \d+ warnings, \d+ failures\./)
  }, 120_000)

  test('doctor finds problems with the mail server, the proxy, the options and the secret key', async () => {
    await using installation = await install({ SECRET_KEY: '' })
    const gateway = await installation.start()
    const set = (key: string, value: string) => gateway.api('PUT', '/api/option/', { key, value })
    await set('SMTPServer', '127.0.0.1')
    await set('SMTPPort', String(await closedPort()))
    await set('SMTPFrom', 'a@b.example')
    await set('SMTPSecurity', 'none')
    await set('QuotaPolicy', 'compat')
    await set('QuotaForNewUser', '100')
    await setAddress(gateway, `http://127.0.0.1:${await closedPort()}`)
    const { code, states } = await doctor(installation)
    expect(code).toBe(1)
    expect(states('mail')).toEqual(['fail'])
    expect(states('proxy')).toEqual(['fail'])
    expect(states('options')).toEqual(['warn', 'warn', 'warn'])
    // A different server at that address is not this installation.
    await using other = await startFakeUpstream()
    await setAddress(gateway, other.url)
    expect((await doctor(installation)).of('proxy')[0]).toMatchObject({
      state: 'fail',
      text: expect.stringContaining('does not lead to'),
    })
    writeFileSync(join(installation.folder, 'secret.key'), 'another secret key that is long\n')
    const wrongKey = await doctor(installation)
    expect([wrongKey.code, wrongKey.report.findings[0]?.text]).toEqual([
      1,
      expect.stringContaining('secret key does not belong to this installation'),
    ])
  }, 120_000)

  test('doctor finds a proxy that buffers events, hides the addresses of callers or passes on forged addresses', async () => {
    const cases = [
      ['', false, 'append', ['ok', 'warn']],
      ['', true, 'append', ['fail', 'warn']],
      ['127.0.0.1', false, 'append', ['ok', 'ok']],
      ['127.0.0.1', false, 'keep', ['ok', 'fail']],
    ] as const
    // The checks run at the same time, because each of them waits for events.
    await Promise.all(
      cases.map(async ([trusted, buffers, forwarded, expected]) => {
        await using installation = await install({ TRUSTED_PROXIES: trusted })
        const gateway = await installation.start()
        await using proxy = startProxy(() => gateway.url, { buffers, forwarded })
        await setAddress(gateway, proxy.url)
        const { of } = await doctor(installation)
        expect([trusted, forwarded, of('proxy').map(({ state }) => state)]).toEqual([trusted, forwarded, [...expected]])
        if (trusted !== '' && forwarded === 'append') expect(of('proxy')[1]?.text).toContain('198.51.100.4')
      }),
    )
  }, 180_000)

  test('the test stream rejects requests without the secret of a running check', async () => {
    await using installation = await install()
    const gateway = await installation.start()
    const ask = async (secret?: string) => {
      const headers: Record<string, string> = secret === undefined ? {} : { 'x-tollgate-doctor': secret }
      const response = await fetch(`${gateway.url}/api/doctor`, { headers })
      return ((await response.json()) as { message: string }).message
    }
    for (const secret of [undefined, '', '.', 'a.b', `${'x'.repeat(5000)}.y`, "' or 1=1 --.x"])
      expect(await ask(secret)).toBe('This check does not exist.')
  })
})
