import { afterEach, beforeEach, expect, test } from 'bun:test'
import { holdOp, settleOp } from '../../test/helpers/accounts.ts'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../../test/helpers/mail-server.ts'
import { remindOfQuota } from './quota-reminders.ts'

forEachDatabase((_, openFresh) => {
  let api: TestApi
  let smtp: MailServer
  let ada: { id: number; username: string }

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    smtp = await startMailServer()
    await mailThrough(api, smtp)
    await setOptions(api, { QuotaRemindThreshold: '1000', QuotaPerUnit: '100' })
    ada = await api.addPerson({ username: 'ada', quota: 5000 })
    await set({ email: 'ada@example.com' })
  })
  afterEach(async () => {
    await smtp[Symbol.asyncDispose]()
    await api.store.close()
  })

  const set = (fields: { quota?: number; email?: string }, id = ada.id) =>
    api.store.write((trx) => trx.updateTable('users').set(fields).where('id', '=', id).execute())
  const run = () =>
    remindOfQuota({ ...api, warn: (message) => void api.warnings.push(message) }).then(() => smtp.mails.length)

  test('one email is sent each time the balance falls below the threshold', async () => {
    expect(await run()).toBe(0)
    await set({ quota: 999 })
    expect(await run()).toBe(1)
    expect(await run()).toBe(1)
    await set({ quota: 500 })
    expect(await run()).toBe(1)
    await set({ quota: 1000 })
    expect(await run()).toBe(1)
    await set({ quota: 0 })
    expect(await run()).toBe(2)
    const [low, empty] = smtp.mails
    expect(low?.to).toEqual(['ada@example.com'])
    expect(low?.text).toContain('The account ada has $9.99 left')
    expect(low?.text).toContain('https://gate.example/topup')
    expect(empty?.headers.subject).toContain('used up')
  })

  test('accounts whose balance never reached the threshold, banned accounts and accounts without an email address get no email', async () => {
    await api.addPerson({ username: 'new', quota: 0 })
    const banned = await api.addPerson({ username: 'banned', quota: 5000 })
    await set({ email: 'banned@example.com' }, banned.id)
    await set({ email: '' })
    expect(await run()).toBe(0)
    await api.store.write((trx) => trx.updateTable('users').set({ status: 2 }).where('id', '=', banned.id).execute())
    for (const id of [ada.id, banned.id]) await set({ quota: 1 }, id)
    expect(await run()).toBe(0)
  })

  test('quota held by open calls is not considered spent', async () => {
    await run()
    const token = await api.call('POST', '/api/token/', { as: 'access-token-of-ada', body: { name: 't' } })
    expect(token.json.success).toBe(true)
    const row = await api.store.read.selectFrom('tokens').select('id').executeTakeFirstOrThrow()
    const account = { userId: ada.id, tokenId: row.id, channelId: 0 }
    await api.store.write((trx) => trx.updateTable('tokens').set({ unlimited_quota: true }).execute())
    const hold = holdOp(account, 4500)
    await api.store.ledger.apply([hold])
    expect(await run()).toBe(0)
    await api.store.ledger.apply([settleOp(account, hold, 4200)])
    expect(await run()).toBe(1)
  })

  test('several nodes that check at the same time send one email', async () => {
    await run()
    await set({ quota: 1 })
    await Promise.all([run(), run(), run()])
    expect(smtp.mails).toHaveLength(1)
  })

  test('no reminder is lost if the mail server is unreachable, and a rejected recipient is not tried again', async () => {
    await run()
    await set({ quota: 1 })
    await setOptions(api, { SMTPPort: '1' })
    await run()
    expect(api.warnings.join()).toContain(`reminder of user ${ada.id}`)
    await mailThrough(api, smtp)
    expect(await run()).toBe(1)
    await set({ quota: 5000 })
    await run()
    await set({ quota: 1 })
    await using refusing = await startMailServer({ refuse: { code: 550, text: 'no such mailbox' } })
    await mailThrough(api, refusing)
    await run()
    await mailThrough(api, smtp)
    expect(await run()).toBe(1)
  })

  test('a full mailbox does not delay other emails, and is tried again', async () => {
    const bob = await api.addPerson({ username: 'bob', quota: 5000 })
    await set({ email: 'bob@example.com' }, bob.id)
    await run()
    await set({ quota: 1 })
    await set({ quota: 1 }, bob.id)
    await using full = await startMailServer({ refuse: { code: 452, text: 'full', recipient: 'ada@example.com' } })
    await mailThrough(api, full)
    await run()
    expect(full.mails.map(({ to }) => to)).toEqual([['bob@example.com']])
    await mailThrough(api, smtp)
    expect(await run()).toBe(1)
    expect(smtp.mails[0]?.to).toEqual(['ada@example.com'])
  })

  test('no reminder is lost if the mail server rejects the sender', async () => {
    await run()
    await set({ quota: 1 })
    await using refusing = await startMailServer({ refuse: { code: 550, text: 'not your address', sender: true } })
    await mailThrough(api, refusing)
    await run()
    expect(api.warnings.join()).toContain('not your address')
    await mailThrough(api, smtp)
    expect(await run()).toBe(1)
  })

  test('no reminders are sent if the threshold is 0 or there is no mail server', async () => {
    await run()
    await set({ quota: 1 })
    await setOptions(api, { QuotaRemindThreshold: '0' })
    expect(await run()).toBe(0)
    await setOptions(api, { QuotaRemindThreshold: '1000', SMTPServer: '' })
    expect(await run()).toBe(0)
  })
})
