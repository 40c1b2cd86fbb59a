import { expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { mailCertificate, startMailServer } from '../../test/helpers/mail-server.ts'
import { SmtpError, type SmtpServer, sendMail } from './smtp.ts'

const message = { to: 'Ada+x@example.com', subject: 'Grüße, 您好', text: 'plain ü\n', html: '<p>html ü</p>' }
const login = { account: 'mailer', password: 'mail secret' }

function server(port: number, fields: Partial<SmtpServer> = {}): SmtpServer {
  const from = { name: 'Gate, "the" <one>', address: 'gate@example.com' }
  return { host: '127.0.0.1', port, security: 'auto', ...login, from, ca: mailCertificate.certificate, ...fields }
}

async function failureOf(work: Promise<unknown>): Promise<SmtpError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(SmtpError)
  return error as SmtpError
}

test('an email arrives with its text, HTML, sender, recipient with a plus sign, and headers', async () => {
  await using smtp = await startMailServer()
  await sendMail(server(smtp.port), message)
  const [mail] = await smtp.arrived(1)
  expect(mail).toMatchObject({
    from: 'gate@example.com',
    to: ['Ada+x@example.com'],
    text: 'plain ü',
    html: '<p>html ü</p>',
    user: 'mailer',
    secure: false,
  })
  expect(mail?.headers).toMatchObject({ subject: 'Grüße, 您好', 'auto-submitted': 'auto-generated' })
  expect(mail?.headers.from).toContain('<gate@example.com>')
  expect(mail?.headers['message-id']).toContain('@example.com>')
})

test('supports TLS from the start and STARTTLS', async () => {
  await using implicit = await startMailServer({ tls: 'implicit' })
  await sendMail(server(implicit.port, { security: 'tls' }), message)
  expect((await implicit.arrived(1))[0]).toMatchObject({ secure: true, user: 'mailer' })
  await using upgraded = await startMailServer({ tls: 'starttls' })
  await sendMail(server(upgraded.port, { security: 'starttls' }), message)
  expect((await upgraded.arrived(1))[0]).toMatchObject({ secure: true, user: 'mailer' })
})

test('checks certificates both with TLS from the start and with STARTTLS', async () => {
  for (const tls of ['implicit', 'starttls'] as const) {
    await using smtp = await startMailServer({ tls })
    const { ca: _, ...unbelieving } = server(smtp.port, { security: tls === 'implicit' ? 'tls' : 'starttls' })
    const error = await failureOf(sendMail(unbelieving, message))
    expect([tls, error.message, error.kind]).toEqual([tls, expect.stringContaining('certificate'), 'failed'])
    expect(smtp.mails).toEqual([])
  }
})

test('sends no password in the clear if STARTTLS is required and not offered', async () => {
  await using smtp = await startMailServer({ tls: 'none' })
  await failureOf(sendMail(server(smtp.port, { security: 'starttls' }), message))
  expect(smtp.mails).toEqual([])
})

test("reports the server's message, and whether trying again can help", async () => {
  await using wrong = await startMailServer()
  const login = await failureOf(sendMail(server(wrong.port, { password: 'other' }), message))
  expect([login.message, login.kind]).toEqual([expect.stringContaining('wrong account or password'), 'failed'])
  await using gone = await startMailServer({ refuse: { code: 550, text: 'no such mailbox' } })
  const refused = await failureOf(sendMail(server(gone.port), message))
  expect([refused.message, refused.kind]).toEqual([expect.stringContaining('no such mailbox'), 'refused'])
  await using busy = await startMailServer({ refuse: { code: 450, text: 'come back later' } })
  expect((await failureOf(sendMail(server(busy.port), message))).kind).toBe('put-off')
})

test('does not wait forever for a silent server', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  expect((await failureOf(sendMail(server(port), message))).kind).toBe('failed')
  silent.close()
}, 120_000)

test('does not connect to a metadata service', async () => {
  const error = await failureOf(sendMail(server(25, { host: '169.254.169.254' }), message))
  expect(error.message).toContain('metadata')
})
