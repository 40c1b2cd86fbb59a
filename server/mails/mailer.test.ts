import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createTestApi, type TestApi } from '../../test/helpers/api-app.ts'
import { forEachDatabase } from '../../test/helpers/databases.ts'
import { type MailServer, mailThrough, setOptions, startMailServer } from '../../test/helpers/mail-server.ts'
import { createMailRoot } from './mail-root.ts'
import type { Pen } from './mailer.ts'
import { type MailLanguage, type MailText, mailTexts } from './texts.ts'

const evil = `"><img src=x onerror=alert(1)>`

/** Every email of the product, sent to somebody with a difficult name. */
const mails: Readonly<Record<string, (pen: Pen) => MailText>> = {
  verification: ({ texts, name }) => texts.verification(name, '402871', 10),
  addressInUse: ({ texts, name, page }) => texts.addressInUse(name, page('/reset')),
  reset: ({ texts, name, page }) =>
    texts.reset(name, evil, page('/user/reset?email=ada%2Bx%40example.com&token=1'), 10),
  addressReplaced: ({ texts, name }) => texts.addressReplaced(name, evil),
  quotaLow: ({ texts, name, page }) => texts.quotaLow(name, evil, '$1.25', page('/topup')),
  quotaUsedUp: ({ texts, name, page }) => texts.quotaUsedUp(name, evil, page('/topup')),
  notice: ({ texts, name }) =>
    texts.notice(name, `channel ${evil} was disabled`, `The upstream says ${evil}\n\nBcc: a@b.co`),
  test: ({ texts, name }) => texts.test(name),
}

interface Element {
  tag: string
  attributes: Record<string, string>
}

function elementsOf(html: string): Element[] {
  const elements: Element[] = []
  new HTMLRewriter()
    .on('*', {
      element: (each) => void elements.push({ tag: each.tagName, attributes: Object.fromEntries(each.attributes) }),
    })
    .transform(html)
  return elements
}

/** The text of the HTML form that a person sees. */
function visibleText(html: string): string {
  const words: string[] = []
  new HTMLRewriter()
    .on('body', { text: (chunk) => void words.push(chunk.text) })
    .transform(html.replaceAll(/<div style="display:none.*?<\/div>/gs, '').replaceAll(/<br>/g, '\n'))
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return words
    .join('')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
}

forEachDatabase((database, openFresh) => {
  let api: TestApi
  let smtp: MailServer

  beforeEach(async () => {
    api = await createTestApi(await openFresh())
    smtp = await startMailServer()
    await mailThrough(api, smtp)
  })
  afterEach(async () => {
    await smtp[Symbol.asyncDispose]()
    await api.store.close()
  })

  // The look of an email does not depend on the database, so all languages are tested only on SQLite.
  for (const language of database === 'sqlite' ? (['en', 'zh', 'ja'] as const satisfies readonly MailLanguage[]) : [])
    describe(language, () => {
      for (const [kind, write] of Object.entries(mails)) {
        test(`${kind} arrives in two forms with the same content, no matter what the names are`, async () => {
          await setOptions(api, { SystemName: `Gate ${evil}\r\nBcc: evil@example.com` })
          await api.mailer.send('Ada+gate@example.com', language, write)
          const [mail] = await smtp.arrived(1)
          if (!mail) throw new Error('no mail')
          expect(mail.to).toEqual(['Ada+gate@example.com'])
          expect(mail.headers['to']).toContain('Ada+gate@example.com')
          expect(mail.headers).not.toHaveProperty('bcc')
          const { subject = '' } = mail.headers
          expect(subject).toStartWith(`Gate ${evil} Bcc: evil@example.com${language === 'en' ? ': ' : '：'}`)
          expect([...subject].length).toBeLessThanOrEqual(200)
          // The plain-text form comes first, because email programs show the last alternative that they support.
          expect(mail.raw).toMatch(/^Content-Type: multipart\/alternative;/m)
          expect([...mail.raw.matchAll(/^Content-Type: (text\/\w+); charset=utf-8/gm)].map((part) => part[1])).toEqual([
            'text/plain',
            'text/html',
          ])
          const seen = visibleText(mail.html)
          const said = write({
            texts: mailTexts[language],
            name: `Gate ${evil} Bcc: evil@example.com`,
            page: (path) => `https://gate.example${path}`,
          })
          for (const part of [...said.lines, said.code, said.note, said.link?.address].filter((each) => each)) {
            expect(mail.text).toContain(part as string)
            expect(seen).toContain(part as string)
          }
          expect(seen).toContain(said.title)
          for (const form of [mail.text, mail.html]) expect(form).toContain('https://gate.example')

          const elements = elementsOf(mail.html)
          const known = [
            'html',
            'head',
            'meta',
            'title',
            'style',
            'body',
            'div',
            'table',
            'tr',
            'td',
            'p',
            'h1',
            'a',
            'br',
          ]
          expect(elements.filter(({ tag }) => !known.includes(tag))).toEqual([])
          const attributes = elements.flatMap((each) => Object.keys(each.attributes))
          expect(attributes.filter((name) => /^on|^src/.test(name))).toEqual([])
          const links = elements.filter(({ tag }) => tag === 'a').map((each) => each.attributes['href'] ?? '')
          for (const href of links) expect(href).toStartWith('https://gate.example')
          expect(links).toHaveLength(said.link ? 3 : 1)
          expect(mail.html).toContain(`<html lang="${{ en: 'en', zh: 'zh-CN', ja: 'ja' }[language]}">`)
        })
      }
    })

  test('if the address of one super admin rejects email, the others still get the notice', async () => {
    for (const username of ['first', 'second', 'third']) {
      const { id } = await api.addPerson({ username, role: 100 })
      const email = `${username}@example.com`
      await api.store.write((trx) => trx.updateTable('users').set({ email }).where('id', '=', id).execute())
    }
    await using refusing = await startMailServer({
      refuse: { code: 550, text: 'no such mailbox', recipient: 'first@example.com' },
    })
    await mailThrough(api, refusing)
    await expect(createMailRoot(api)('channel 1 was disabled', 'text')).rejects.toThrow('no such mailbox')
    expect(refusing.mails.map(({ to }) => to[0]).toSorted()).toEqual(['second@example.com', 'third@example.com'])
  })

  test('notices go to every super admin with an email address, in the language of the options', async () => {
    for (const [username, email, role] of [
      ['root', 'root+ops@example.com', 100],
      ['second', 'second@example.com', 100],
      ['admin', 'admin@example.com', 10],
      ['silent', '', 100],
    ] as const) {
      const { id } = await api.addPerson({ username, role })
      await api.store.write((trx) => trx.updateTable('users').set({ email }).where('id', '=', id).execute())
    }
    await setOptions(api, { MailLanguage: 'zh', SystemName: '我的网关' })
    await createMailRoot(api)('channel 1 was disabled', 'The key was refused.')
    expect(smtp.mails.map(({ to }) => to[0]).toSorted()).toEqual(['root+ops@example.com', 'second@example.com'])
    for (const mail of smtp.mails) {
      expect(mail.headers.subject).toBe('我的网关：channel 1 was disabled')
      expect(mail.headers.from).toBe('我的网关 <gate@example.com>')
      expect(mail.html).toContain('本邮件由 我的网关 自动发送')
    }
  })
})
