import { expect, test } from 'bun:test'
import { renderMail } from './render-mail.ts'
import { languageOf, type MailLanguage, mailTexts } from './texts.ts'

const frame = { language: 'en', name: 'Gate <b>', address: 'https://gate.example' } as const

test('both forms have the same content, and nothing in them becomes markup or a second header', () => {
  const mail = renderMail(
    {
      subject: 'One\r\nBcc: evil@example.com',
      title: '<i>One</i>',
      lines: ['Hello <script>alert(1)</script> & "you"'],
      code: '<1>',
      link: { label: 'Go', address: 'https://gate.example/?a="><img>&b=1' },
      note: "It's small",
    },
    frame,
  )
  expect(mail.subject).toBe('One Bcc: evil@example.com')
  expect(mail.text).toBe(
    `Hello <script>alert(1)</script> & "you"\n\n    <1>\n\nGo:\nhttps://gate.example/?a="><img>&b=1\n\nIt's small\n\n-- \nGate <b>\nhttps://gate.example\n`,
  )
  expect(mail.html).not.toMatch(/<script|<img|<b>|<i>|<1>/)
  expect(mail.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;you&quot;')
  expect(mail.html).toContain('href="https://gate.example/?a=&quot;&gt;&lt;img&gt;&amp;b=1"')
  expect(mail.html).toContain('<html lang="en">')
})

test('every email exists in every language, and is complete in both forms', () => {
  for (const [language, texts] of Object.entries(mailTexts)) {
    const mails = [
      texts.verification('Gate', '123456', 10),
      texts.addressInUse('Gate', 'https://gate.example/reset'),
      texts.reset('Gate', 'ada', 'https://gate.example/user/reset?x=1', 10),
      texts.addressReplaced('Gate', 'ada'),
      texts.quotaLow('Gate', 'ada', '$1.00', 'https://gate.example/topup'),
      texts.quotaUsedUp('Gate', 'ada', 'https://gate.example/topup'),
      texts.notice('Gate', 'channel 1 was disabled', 'because\nof this'),
      texts.test('Gate'),
    ]
    for (const text of mails) {
      const mail = renderMail(text, { ...frame, language: language as MailLanguage })
      for (const part of [mail.subject, mail.text, mail.html]) expect(part).not.toMatch(/undefined|\[object/)
      for (const line of text.lines) expect(mail.text).toContain(line)
    }
  }
})

test('uses the available language that the browser prefers', () => {
  for (const [header, expected] of [
    [undefined, 'zh'],
    ['', 'zh'],
    ['en', 'en'],
    ['en-US,en;q=0.9', 'en'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
    ['en;q=0.2, zh-TW;q=0.7', 'zh'],
    ['de, fr;q=0.9', 'zh'],
    ['zh;q=0, en;q=0.1', 'en'],
    ['*', 'zh'],
    ['ja-JP, en;q=0.8', 'ja'],
    ['constructor, en;q=0.8', 'en'],
  ] as const) {
    expect([header, languageOf(header, 'zh')]).toEqual([header, expected])
  }
})
