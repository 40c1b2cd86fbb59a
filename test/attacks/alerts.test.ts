// Alerts send requests to addresses that users choose. Their texts contain names that other users chose.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { createAlertSender } from '../../server/jobs/alert-sender.ts'
import { deliverAlerts } from '../../server/jobs/deliver-alerts.ts'
import { createAlertEvaluation } from '../../server/jobs/evaluate-alerts.ts'
import { createPostMessage } from '../../server/outbound/post-message.ts'
import { forEachDatabase } from '../helpers/databases.ts'
import { mailThrough, startMailServer } from '../helpers/mail-server.ts'
import { startService } from '../helpers/outside-services.ts'
import { type Attacker, type Scene, scene } from './setup.ts'

setDefaultTimeout(60_000)

forEachDatabase((_, openFresh) => {
  let set: Scene
  let user: Attacker
  let admin: Attacker

  beforeEach(async () => {
    set = await scene(await openFresh())
    user = await set.person()
    admin = await set.person(10)
  })
  afterEach(() => set.api.store.close())

  const call = async (method: string, path: string, as: Attacker, body?: unknown) =>
    (await set.api.call(method, path, { as: as.token, ...(body !== undefined && { body }) })).json
  const make = async (path: string, as: Attacker, body: object) => (await call('POST', path, as, body)).data
  /** Evaluates the rules and sends the messages, which a running server does once a minute. */
  async function minute(): Promise<void> {
    const { api } = set
    api.time.ms += 60_000
    await createAlertEvaluation(api)()
    await deliverAlerts({ ...api, send: createAlertSender({ ...api, post: createPostMessage() }) })
  }

  test('a user’s alerts call no private address, whether a test or a rule sends them, and follow no redirect', async () => {
    await using inside = await startService((_request, response) => response.end('inside'))
    const port = new URL(inside.url).port
    const hosts = ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '169.254.169.254']
    for (const host of hosts) {
      const url = `http://${host}:${port}/`
      const hook = await make('/api/alert/self/destination', user, { kind: 'webhook', name: 'x', url })
      set.api.time.ms += 3600_000
      const { data } = await call('POST', `/api/alert/self/destination/${hook.id}/test`, user, {})
      expect([host, data.ok]).toEqual([host, false])
      await make('/api/alert/self/rule', user, {
        kind: 'own_balance',
        name: 'x',
        threshold: 1e6,
        destinations: [hook.id],
      })
      await minute()
      const [sent] = (await call('GET', '/api/alert/self/history', user)).data
      expect([host, sent.deliveries[0].status]).toEqual([host, 'waiting'])
      for (const { id } of (await call('GET', '/api/alert/self/rule', user)).data)
        await call('DELETE', `/api/alert/self/rule/${id}`, user)
      await call('DELETE', `/api/alert/self/destination/${hook.id}`, user)
    }
    expect(inside.requests).toEqual([])
  })

  test('names and templates add no email header, no recipient and no HTML', async () => {
    await using smtp = await startMailServer()
    await mailThrough(set.api, smtp)
    const evil = '</p><script>x</script>\r\nBcc: victim@example.com\r\n\r\nbody {limit}'
    const channel = { type: 1, name: evil, key: 'k', models: 'gpt-4', group: 'default' }
    const [id] = (await call('POST', '/api/channel/', admin, channel)).data
    await set.api.store.write((trx) =>
      trx.updateTable('channels').set({ status: 3, name: evil }).where('id', '=', id).execute(),
    )
    const mail = await make('/api/alert/destination', admin, { kind: 'mail', name: 'ops', to: 'ops@example.com' })
    const rule = {
      kind: 'channel_disabled',
      name: 'r',
      title: '{target}\r\nCc: victim@example.com',
      destinations: [mail.id],
    }
    await make('/api/alert/rule', admin, rule)
    await minute()
    expect(smtp.mails).toHaveLength(1)
    const [sent] = smtp.mails
    expect(sent?.to).toEqual(['ops@example.com'])
    expect(Object.keys(sent?.headers ?? {}).filter((name) => /^b?cc$/i.test(name))).toEqual([])
    expect(sent?.headers.subject).toContain('Bcc: victim@example.com body {limit} Cc: victim@example.com')
    expect(sent?.html).not.toContain('<script>')
  })

  test('a user cannot send to other users’ destinations, or have emails sent to other users', async () => {
    const theirs = await make('/api/alert/destination', admin, { kind: 'mail', name: 'ops', to: 'ops@example.com' })
    const rule = { kind: 'own_balance', name: 'r', threshold: 1e6, destinations: [theirs.id] }
    expect((await call('POST', '/api/alert/self/rule', user, rule)).success).toBe(false)
    const mail = { kind: 'mail', name: 'x', to: 'victim@example.com' }
    expect((await call('POST', '/api/alert/self/destination', user, mail)).success).toBe(false)
    const own = await make('/api/alert/self/destination', user, { kind: 'mail', name: 'x' })
    const change = { id: own.id, to: 'victim@example.com' }
    expect((await call('PUT', '/api/alert/self/destination', user, change)).success).toBe(false)
  })

  test('a user’s messages contain nothing about channels', async () => {
    for (const kind of [
      'channel_disabled',
      'channel_error_rate',
      'upstream_balance',
      'daily_spend',
      'ledger_fault',
      'price_held',
      'price_feed_failed',
      'channel_loss',
    ])
      expect((await call('POST', '/api/alert/self/rule', user, { kind, name: 'r', threshold: 1 })).success).toBe(false)
  })
})
