import { afterEach, beforeEach, expect, test } from 'bun:test'
import { logRow } from '../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../../test/helpers/mail-server.ts'
import { statementCounts } from '../store/accounts/statement-emails.ts'
import { rollUpUsage } from '../store/usage/usage-rollup.ts'
import { sendStatements } from './statement-emails.ts'

const at = (text: string) => Date.parse(text) / 1000
const start = at('2023-11-01T00:20:00Z')

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let smtp: MailServer
  let ada: { id: number; username: string }
  let now: number

  beforeEach(async () => {
    now = start
    api = await createTestApi(await openFresh())
    smtp = await startMailServer()
    await mailThrough(api, smtp)
    await setOptions(api, { StatementEmailEnabled: 'true', QuotaPerUnit: '100', DisplayInCurrencyEnabled: 'true' })
    ada = await person('ada')
  })
  afterEach(async () => {
    await smtp[Symbol.asyncDispose]()
    await api.store.close()
  })

  const setUser = (id: number, fields: object) =>
    api.store.write((trx) => trx.updateTable('users').set(fields).where('id', '=', id).execute())
  /** A user who had 100 quota units at the beginning of October, and received 700 and spent 300 in October. */
  const person = async (username: string, fields: object = {}) => {
    const made = await api.addPerson({ username })
    const balance = { quota: 500, used_quota: 300, granted_quota: 800, email: `${username}@example.com` }
    await setUser(made.id, { ...balance, ...fields })
    const rows = [
      [at('2023-09-10T10:00:00Z'), 1, 100, ''],
      [at('2023-10-01T00:00:00Z'), 1, 700, ''],
      [at('2023-10-31T23:59:59Z'), 2, 200, 'gpt-4o'],
      [at('2023-10-12T10:00:00Z'), 2, 100, '<b>model'],
    ] as const
    const values = rows.map(([created_at, type, quota, model_name]) => ({
      ...logRow({ userId: made.id, tokenId: 1, channelId: 1 }),
      ...{ username, created_at, type, quota, model_name },
    }))
    await api.store.write((trx) => trx.insertInto('logs').values(values).execute())
    return made
  }
  const run = () =>
    sendStatements({
      ...api,
      clock: { nowMs: () => now * 1000 },
      warn: (message) => void api.warnings.push(message),
    }).then(() => smtp.mails.length)
  const counts = async () =>
    Object.fromEntries(
      (await statementCounts(api.store.read, '2023-10')).map(({ state, count }) => [state, Number(count)]),
    )

  test('the statement of the last month is sent once, with amounts that add up', async () => {
    expect(await run()).toBe(1)
    const [mail] = smtp.mails
    expect(mail?.to).toEqual(['ada@example.com'])
    expect(mail?.headers['subject']).toContain('your statement for 2023-10')
    for (const text of [
      'Opening balance: $1.000000',
      'Top-ups: $7.000000',
      'Usage: -$3.000000',
      '  gpt-4o: -$2.000000',
      '  <b>model: -$1.000000',
      'Closing balance: $5.000000',
      'https://gate.example/statement?month=2023-10',
      'UTC',
    ])
      expect(mail?.text).toContain(text)
    expect(mail?.text).not.toContain('Bonuses')
    expect(mail?.html).toContain('&lt;b&gt;model')
    expect(mail?.html).toContain('$5.000000')
    for (const later of [600, 3600, 86_400]) {
      now = start + later
      expect(await run()).toBe(1)
    }
    expect(await counts()).toEqual({ sent: 1 })
    now = at('2023-12-02T00:00:00Z')
    await rollUpUsage(api.store, now)
    // The account had no activity in November, so it gets no statement.
    expect(await run()).toBe(1)
  })

  test('nodes that run at the same time send each statement once', async () => {
    await person('bob')
    await Promise.all([run(), run(), run()])
    now += 600
    await run()
    expect(smtp.mails.map(({ to }) => to[0]).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  })

  test('no statement is sent while the option is off, without a mail server, or after the fifth day of the month', async () => {
    await setOptions(api, { StatementEmailEnabled: 'false' })
    expect(await run()).toBe(0)
    await setOptions(api, { StatementEmailEnabled: 'true', SMTPServer: '' })
    expect(await run()).toBe(0)
    await mailThrough(api, smtp)
    now = at('2023-11-06T00:00:00Z')
    expect(await run()).toBe(0)
    now = at('2023-11-05T23:59:00Z')
    expect(await run()).toBe(1)
  })

  test('no statement is sent to disabled accounts, to accounts without an email address or activity, or to accounts that switched statements off', async () => {
    await person('banned', { status: 2 })
    await person('silent', { email: '' })
    const idle = await api.addPerson({ username: 'idle' })
    await setUser(idle.id, { email: 'idle@example.com' })
    const off = await person('off')
    await api.store.write((trx) => trx.insertInto('statement_optouts').values({ user_id: off.id }).execute())
    await run()
    expect(smtp.mails.map(({ to }) => to)).toEqual([['ada@example.com']])
  })

  test('an email is sent again after a failure of the mail server, but not if the mail server rejected its recipient', async () => {
    await person('bob')
    await setOptions(api, { SMTPPort: '1' })
    await run()
    expect(api.warnings.join()).toContain(`statement of user ${ada.id}`)
    expect(await counts()).toEqual({ waiting: 1 })
    await using refusing = await startMailServer({ refuse: { code: 550, text: 'no', recipient: 'bob@example.com' } })
    await mailThrough(api, refusing)
    now += 600
    await run()
    // Ada's email failed ten minutes ago and is not tried again yet. Bob's was rejected.
    expect(refusing.mails).toEqual([])
    expect(await counts()).toEqual({ waiting: 1, refused: 1 })
    await mailThrough(api, smtp)
    now += 3600
    expect(await run()).toBe(1)
    expect(smtp.mails[0]?.to).toEqual(['ada@example.com'])
    expect(await counts()).toEqual({ sent: 1, refused: 1 })
  })

  test('an email that a stopped process may have sent is not sent again', async () => {
    const values = { month: '2023-10', user_id: ada.id, state: 'sending' as const, updated_at: start - 3000 }
    await api.store.write((trx) => trx.insertInto('statement_emails').values(values).execute())
    expect(await run()).toBe(0)
    expect(await counts()).toEqual({ sending: 1 })
  })
})
