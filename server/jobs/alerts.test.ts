import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { logRow } from '../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { setOptions } from '../../test/helpers/mail-server.ts'
import type { AlertMessage } from '../outbound/alert-services.ts'
import { purgeAlertHistory } from '../store/accounts/alert-history.ts'
import type { AlertSender, SendResult } from './alert-sender.ts'
import { quietUntil } from './alert-values.ts'
import { deliverAlerts } from './deliver-alerts.ts'
import { createAlertEvaluation } from './evaluate-alerts.ts'
import { newFeed } from './stored-costs.ts'

const minuteMs = 60_000

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let admin: { id: number; token: string }
  let ada: { id: number; token: string; username: string }
  let evaluate: () => Promise<boolean>
  let sent: AlertMessage[]
  let languages: string[]
  let answer: SendResult

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    admin = await api.addPerson({ username: 'admin', role: 10 })
    ada = await api.addPerson({ username: 'ada', quota: 5000 })
    await setOptions(api, { QuotaPerUnit: '100', ServerAddress: 'https://gate.example' })
    evaluate = createAlertEvaluation(api)
    sent = []
    languages = []
    answer = { error: '', final: true }
  })
  afterEach(() => api.store.close())

  const send: AlertSender = async (_destination, message, language) => {
    sent.push(message)
    languages.push(language)
    return answer
  }
  /** Lets minutes pass, evaluates the rules in each minute, and returns the titles of the messages that were sent. */
  async function pass(minutes = 1): Promise<string[]> {
    const before = sent.length
    for (let minute = 0; minute < minutes; minute++) {
      api.time.ms += minuteMs
      await evaluate()
      await deliverAlerts({ ...api, send })
    }
    return sent.slice(before).map(({ title }) => title)
  }
  const call = async (method: string, path: string, body?: unknown, as = ada.token) =>
    (await api.call(method, `/api/alert${path}`, { as, ...(body !== undefined && { body }) })).json.data
  async function addRule(fields: object, path = '/self') {
    const as = path === '' ? admin.token : ada.token
    const hook = { kind: 'webhook', name: 'hook', url: 'https://hooks.example/' }
    const destination = await call('POST', `${path}/destination`, hook, as)
    return call('POST', `${path}/rule`, { name: 'R', destinations: [destination.id], ...fields }, as)
  }
  const setUser = (fields: object, id = ada.id) =>
    api.store.write((trx) => trx.updateTable('users').set(fields).where('id', '=', id).execute())
  const addLogs = (count: number, fields: object = {}) =>
    api.store.write((trx) =>
      trx
        .insertInto('logs')
        .values(
          Array.from({ length: count }, () => ({
            ...logRow({ userId: ada.id, tokenId: 1, channelId: 1 }),
            created_at: Math.floor(api.time.ms / 1000),
            first_byte_time: 100,
            quota: 10,
            ...fields,
          })),
        )
        .execute(),
    )
  const failed = { type: 6, quota: 0, outcome: 'failed', code: 'upstream_error', first_byte_time: 0, channel_id: 0 }
  async function addChannel(fields: object = {}): Promise<number> {
    const body = { type: 1, name: 'main', key: 'k', models: 'gpt-4', group: 'default' }
    const [id] = (await api.call('POST', '/api/channel/', { as: admin.token, body })).json.data
    await api.store.write((trx) => trx.updateTable('channels').set(fields).where('id', '=', id).execute())
    return id
  }

  describe('states of rules', () => {
    test('a rule sends one message when it fires, keeps firing while the value is near the threshold, and is resolved when the value has been clearly better for five minutes', async () => {
      await addRule({ kind: 'own_balance', threshold: 1000 })
      expect(await pass()).toEqual([])
      await setUser({ quota: 999 })
      expect(await pass()).toEqual(['Firing: R'])
      expect(await pass(3)).toEqual([])
      await setUser({ quota: 1050 })
      expect(await pass(8)).toEqual([])
      await setUser({ quota: 999 })
      expect(await pass()).toEqual([])
      await setUser({ quota: 1200 })
      expect(await pass(5)).toEqual([])
      const [rule] = await call('GET', '/self/rule')
      expect(rule.firing).toEqual([expect.objectContaining({ target: '', since: 1_700_000_120 })])
      expect(await pass()).toEqual(['Resolved: R'])
      expect((await call('GET', '/self/rule'))[0].firing).toEqual([])
    })

    test('a firing rule sends reminders at its interval, and with send_resolved off no message when it is resolved', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000, remind_hours: 2, send_resolved: false })
      expect(await pass()).toEqual(['Firing: R'])
      expect(await pass(119)).toEqual([])
      expect(await pass()).toEqual(['Still firing: R'])
      await setUser({ quota: 50_000 })
      expect(await pass(10)).toEqual([])
    })

    test('several nodes that evaluate at the same time send one message', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000 })
      const nodes = Array.from({ length: 4 }, () => createAlertEvaluation(api))
      const done = await Promise.all(nodes.map((node) => node()))
      expect(done.filter(Boolean)).toHaveLength(1)
      await Promise.all(nodes.map(() => deliverAlerts({ ...api, send })))
      expect(sent).toHaveLength(1)
    })

    test('a rule fires again after it was switched off or its threshold was changed, but not after it was renamed', async () => {
      const { id } = await addRule({ kind: 'own_balance', threshold: 9000 })
      expect(await pass()).toHaveLength(1)
      await call('PUT', '/self/rule', { id, name: 'S' })
      expect(await pass()).toEqual([])
      await call('PUT', '/self/rule', { id, enabled: false })
      expect(await pass()).toEqual([])
      await call('PUT', '/self/rule', { id, enabled: true })
      expect(await pass()).toEqual(['Firing: S'])
      await call('PUT', '/self/rule', { id, threshold: 8000 })
      expect(await pass()).toEqual(['Firing: S'])
    })

    test('rules of banned users do not fire', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000 })
      await setUser({ status: 2 })
      expect(await pass()).toEqual([])
    })
  })

  describe('conditions', () => {
    test("own_spend fires when the user's spending of the day in the rule's time zone exceeds the threshold", async () => {
      await addRule({ kind: 'own_spend', threshold: 500, time_zone: 'Asia/Shanghai' })
      await addLogs(1, { quota: 400 })
      await addLogs(1, { quota: 900, user_id: admin.id })
      // 22:13 UTC is 06:13 in Shanghai, so the day began at 16:00 UTC.
      await addLogs(1, { quota: 5000, created_at: 1_699_970_000 })
      expect(await pass()).toEqual([])
      await addLogs(1, { quota: 101 })
      expect(await pass()).toEqual(['Firing: R'])
      expect(sent[0]?.text).toContain('You spent $5.01 today. The limit is $5.00.')
      expect(sent[0]?.text).toContain('(Asia/Shanghai)\nhttps://gate.example/alert')
    })

    test('own_token_quota and own_token_expiry fire separately for each token that is nearly empty or about to expire', async () => {
      await addRule({ kind: 'own_token_quota', threshold: 100, name: 'quota' })
      await addRule({ kind: 'own_token_expiry', threshold: 3, name: 'expiry' })
      const add = (body: object) => api.call('POST', '/api/token/', { as: ada.token, body })
      await add({ name: 'full', remain_quota: 1000 })
      await add({ name: 'free', unlimited_quota: true })
      expect(await pass()).toEqual([])
      await add({ name: 'low', remain_quota: 99 })
      await add({ name: 'old', remain_quota: 1000, expired_time: Math.floor(api.time.ms / 1000) + 2 * 86_400 })
      expect((await pass()).sort()).toEqual(['Firing: expiry', 'Firing: quota'])
      expect(sent.map(({ target }) => target).sort()).toEqual(['low', 'old'])
    })

    test('own_error_rate and error_rate fire for a high share of failed requests, if there are enough requests', async () => {
      await addRule({ kind: 'own_error_rate', threshold: 50, min_calls: 10, minutes: 5, name: 'own' })
      await addRule({ kind: 'error_rate', threshold: 50, min_calls: 10, minutes: 5, name: 'all' }, '')
      await addLogs(3, failed)
      expect(await pass()).toEqual([])
      await addLogs(2, failed)
      await addLogs(3)
      await addLogs(1, { ...failed, left_out: 4, user_id: admin.id })
      expect(await pass()).toEqual(['Firing: all'])
      await addLogs(2)
      expect(await pass()).toEqual([])
      await addLogs(4, failed)
      expect(await pass()).toEqual(['Firing: own'])
      expect(sent.at(-1)?.text).toMatch(/^64\.3% of your requests fail/)
    })

    test('a failed attempt counts against its channel even if another channel served the request, unless the request was invalid', async () => {
      const [bad, good] = [await addChannel({ name: 'bad' }), await addChannel({ name: 'good' })]
      await addRule({ kind: 'channel_error_rate', threshold: 30, min_calls: 10 }, '')
      const attempt = (channelId: number, error: string, status = 500) => ({ channelId, status, error, ms: 1 })
      await addLogs(8, { channel_id: bad })
      await addLogs(5, { channel_id: good, attempts: JSON.stringify([attempt(bad, 'boom'), attempt(good, '')]) })
      await addLogs(20, { ...failed, attempts: JSON.stringify([attempt(good, 'no such field', 400)]) })
      expect(await pass()).toEqual(['Firing: R'])
      expect(sent[0]?.target).toBe('bad')
      expect(sent[0]?.text).toMatch(/^38\.5% of the attempts at bad fail\. The limit is 30%\./)
    })

    test('channel_disabled fires for every channel, and upstream_balance only for the channel of its rule', async () => {
      const [one, two] = [await addChannel({ name: 'one' }), await addChannel({ name: 'two' })]
      await addRule({ kind: 'channel_disabled', name: 'off' }, '')
      await addRule({ kind: 'upstream_balance', threshold: 5, channel_id: two, name: 'balance' }, '')
      const set = (id: number, fields: object) =>
        api.store.write((trx) => trx.updateTable('channels').set(fields).where('id', '=', id).execute())
      await set(one, { balance: 1, balance_updated_time: 1 })
      expect(await pass()).toEqual([])
      await set(one, { status: 3 })
      await set(two, { balance: 4.5, balance_updated_time: 1 })
      expect((await pass()).sort()).toEqual(['Firing: balance', 'Firing: off'])
      expect(sent.map(({ text }) => text.split('\n')[0]).sort()).toEqual([
        'The balance of two at its provider is 4.5. The limit is 5.',
        'one was disabled automatically.',
      ])
    })

    test('price_held, price_feed_failed and channel_loss fire, and are resolved when the cause is gone', async () => {
      const [one, two] = [await addChannel({ name: 'one' }), await addChannel({ name: 'two' })]
      await addRule({ kind: 'price_held', name: 'held' }, '')
      await addRule({ kind: 'price_feed_failed', name: 'unread', channel_id: two }, '')
      await addRule({ kind: 'channel_loss', name: 'loss', threshold: 200, language: 'ja' }, '')
      const feed = { ...newFeed({ kind: 'gateway', url: '', group: '', every_hours: 24 }) }
      const set = (id: number, fields: object) =>
        api.store.write((trx) =>
          trx
            .updateTable('channels')
            .set({ price_feed: JSON.stringify({ ...feed, ...fields }) })
            .where('id', '=', id)
            .execute(),
        )
      await set(one, { error: 'status 500' })
      await set(two, {})
      expect(await pass()).toEqual([])
      const held = { m: { cost: { input: 10 }, since: 1 }, n: { cost: { input: 10 }, since: 1 } }
      await set(one, { held })
      await set(two, { error: 'status 500' })
      // A request whose cost is unknown is not a loss, and neither is a request that was charged more than it cost.
      await addLogs(1, { channel_id: one, quota: 100, cost: 250 })
      await addLogs(1, { channel_id: one, quota: 1, cost: null })
      await addLogs(1, { channel_id: two, quota: 500, cost: 100 })
      expect((await pass()).sort()).toEqual(['Firing: held', 'Firing: unread'])
      expect(sent.map(({ text }) => text.split('\n')[0]).sort()).toEqual([
        'The price list of two cannot be read. Its prices stay as they are.',
        'one has prices from its price list that wait for a decision.',
      ])
      await addLogs(1, { channel_id: one, quota: 0, cost: 51 })
      expect(await pass()).toEqual(['発生：loss'])
      expect(sent.at(-1)?.text).toContain(
        'one のリクエストの原価が、請求額を $2.01 上回っています。上限は $2.00 です。',
      )
      await set(one, {})
      await set(two, {})
      expect((await pass(7)).sort()).toEqual(['Resolved: held', 'Resolved: unread'])
      api.time.ms += 25 * 3_600_000
      expect(await pass(7)).toEqual(['解消：loss'])
    })

    test('daily_spend fires for the spending of all users, and user_spend_jump for a user who spends far more than usual', async () => {
      await addRule({ kind: 'daily_spend', threshold: 1000, name: 'day' }, '')
      await addRule({ kind: 'user_spend_jump', threshold: 3, name: 'jump' }, '')
      for (const back of [1, 2, 3]) await addLogs(1, { quota: 200, created_at: 1_700_000_000 - back * 86_400 })
      await addLogs(1, { quota: 550 })
      expect(await pass()).toEqual([])
      await addLogs(1, { quota: 500, user_id: admin.id, username: 'admin' })
      expect(await pass()).toEqual(['Firing: day'])
      await addLogs(1, { quota: 100 })
      expect(await pass()).toEqual(['Firing: jump'])
    })

    test('first_byte_p95 fires if responses begin late', async () => {
      await addRule({ kind: 'first_byte_p95', threshold: 2, min_calls: 10 }, '')
      await addLogs(20, { first_byte_time: 500 })
      expect(await pass()).toEqual([])
      await addLogs(20, { first_byte_time: 6000 })
      expect(await pass()).toEqual(['Firing: R'])
    })

    test('ledger_fault fires if the amounts of an account do not add up, which is checked once an hour', async () => {
      await addRule({ kind: 'ledger_fault' }, '')
      expect(await pass()).toEqual([])
      await setUser({ quota: 4999 })
      expect(await pass(10)).toEqual([])
      expect(await pass(55)).toEqual(['Firing: R'])
      expect(sent[0]?.text).toContain(`Amounts of user ${ada.id} do not add up`)
    })
  })

  describe('messages', () => {
    test('a value that is inserted into a template cannot add a placeholder or a line break', async () => {
      await addChannel({ name: 'evil\r\nBcc: x {limit} {name}', status: 3 })
      await addRule(
        { kind: 'channel_disabled', name: 'N', title: '[{system}] {name}: {target}', text: 'a\r\nb {status}' },
        '',
      )
      await pass()
      expect(sent[0]).toMatchObject({
        title: '[Tollgate] N: evil Bcc: x {limit} {name}',
        text: 'a\nb firing',
        event: 'firing',
        rule: 'N',
      })
    })

    test('a rule in Chinese sends Chinese texts', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000, language: 'zh' })
      expect(await pass()).toEqual(['告警：R'])
      expect(sent[0]?.text).toContain('您的余额为 $50.00，阈值为 $90.00。')
    })

    test('a rule in Japanese sends Japanese texts in single messages, summaries and emails', async () => {
      for (const name of ['a', 'b', 'c']) await addChannel({ name, status: 3 })
      await addRule({ kind: 'own_balance', threshold: 9000, language: 'ja' })
      expect(await pass()).toEqual(['発生：R'])
      expect(sent[0]?.text).toContain('残高は $50.00 です。下限は $90.00 です。')
      const quiet = { quiet_start: '22:00', quiet_end: '22:30' }
      await addRule({ kind: 'channel_disabled', language: 'ja', ...quiet }, '')
      await pass(1)
      expect(await pass(20)).toEqual(['Tollgate：3 件のアラート'])
      expect(languages.at(-1)).toBe('ja')
    })

    test('a failed message is sent again at growing intervals, and then given up', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000 })
      answer = { error: 'The service answered with status 503', final: false }
      await pass()
      const delivery = async () => (await call('GET', '/self/history'))[0].deliveries[0]
      expect(await delivery()).toMatchObject({ status: 'waiting', attempts: 1, error: answer.error })
      await pass(1)
      expect(sent).toHaveLength(2)
      await pass(3)
      expect(sent).toHaveLength(2)
      await pass(60 * 4)
      expect(sent).toHaveLength(5)
      expect(new Set(sent.map(({ id }) => id)).size).toBe(1)
      expect(await delivery()).toMatchObject({ status: 'failed', attempts: 5 })
      const [destination] = await call('GET', '/self/destination')
      expect(destination.last_error).toBe(answer.error)
    })

    test('a message that the service refuses permanently is not sent again', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000 })
      answer = { error: 'gone', final: true }
      await pass(200)
      expect(sent).toHaveLength(1)
    })

    test('messages during quiet hours are held, and summarized when the quiet hours end', async () => {
      // The test begins at 22:13 UTC. In Tokyo it is 07:13, outside the quiet hours.
      const quiet = { quiet_start: '22:00', quiet_end: '22:30' }
      for (const name of ['a', 'b', 'c']) await addChannel({ name, status: 3 })
      await addRule({ kind: 'channel_disabled', ...quiet }, '')
      await addRule({ kind: 'own_balance', threshold: 9000, name: 'own', ...quiet, time_zone: 'Asia/Tokyo' })
      expect(await pass(1)).toEqual(['Firing: own'])
      expect(await pass(14)).toEqual([])
      const history = () => call('GET', '/history', undefined, admin.token)
      expect((await history())[0].deliveries[0].status).toBe('held')
      expect(await pass(3)).toEqual(['Tollgate: 3 alerts'])
      expect(sent.at(-1)).toMatchObject({
        event: 'summary',
        text: '• Firing: R (a)\n• Firing: R (b)\n• Firing: R (c)',
      })
      const rows = (await history()) as { deliveries: { status: string }[] }[]
      expect(rows.map(({ deliveries }) => deliveries[0]?.status)).toEqual(['sent', 'sent', 'sent'])
    })

    test('many messages that are due at the same time are sent as one summary, and messages over the hourly limit are not sent', async () => {
      for (let count = 0; count < 25; count++)
        await api.call('POST', '/api/token/', { as: ada.token, body: { name: `t${count}`, remain_quota: 1 } })
      await addRule({ kind: 'own_token_quota', threshold: 100 })
      expect(await pass()).toEqual(['Tollgate: 20 alerts'])
      const page = await api.call('GET', '/api/alert/self/history?p=0&size=100', { as: ada.token })
      expect(page.headers.get('x-total-count')).toBe('25')
      const rows = page.json.data as { deliveries: { status: string; error: string }[] }[]
      expect(rows[0]?.deliveries[0]).toMatchObject({ status: 'failed', error: 'More than 20 messages in an hour.' })
    })

    test('no message is sent to a deleted destination', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000, quiet_start: '00:00', quiet_end: '23:59' })
      await pass()
      const [{ id }] = await call('GET', '/self/destination')
      await call('DELETE', `/self/destination/${id}`)
      await pass(120)
      expect(sent).toEqual([])
      expect((await call('GET', '/self/history'))[0].deliveries[0].error).toContain('deleted')
    })

    test('old messages are deleted', async () => {
      await addRule({ kind: 'own_balance', threshold: 9000 })
      await pass()
      await purgeAlertHistory(api.store, 1_700_000_000, async () => undefined)
      expect(await call('GET', '/self/history')).toHaveLength(1)
      await purgeAlertHistory(api.store, 1_800_000_000, async () => undefined)
      expect(await call('GET', '/self/history')).toEqual([])
      expect(await api.store.read.selectFrom('alert_deliveries').selectAll().execute()).toEqual([])
    })
  })
})

test('quietUntil returns the end of the current quiet hours, also across midnight and in other time zones', () => {
  const at = (time: string) => Date.parse(`2026-11-28T${time}Z`) / 1000
  const until = (start: string, end: string, time: string, zone = 'UTC') => {
    const seconds = quietUntil({ quiet_start: start, quiet_end: end, time_zone: zone }, at(time))
    return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().slice(5, 16)
  }
  expect(until('22:00', '07:00', '23:15:20')).toBe('11-29T07:00')
  expect(until('22:00', '07:00', '06:59:59')).toBe('11-28T07:00')
  expect(until('22:00', '07:00', '07:00:00')).toBeUndefined()
  expect(until('12:00', '13:00', '12:30:00')).toBe('11-28T13:00')
  expect(until('12:00', '13:00', '13:30:00')).toBeUndefined()
  expect(until('22:00', '07:00', '15:30:00', 'Asia/Tokyo')).toBe('11-28T22:00')
  expect(until('', '', '12:00:00')).toBeUndefined()
  expect(until('08:00', '08:00', '08:00:00')).toBeUndefined()
})
