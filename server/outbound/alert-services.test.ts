import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { startService } from '../../test/helpers/outside-services.ts'
import { type AlertAddress, type AlertMessage, alertRequest, refusalOf } from './alert-services.ts'
import { createPostMessage } from './post-message.ts'

const nowMs = 1_700_000_123_456
const message: AlertMessage = {
  id: '7',
  event: 'firing',
  title: 'Firing: <!channel> *bold* & co',
  text: 'one <@everyone>\ntwo',
  rule: 'Errors',
  target: 'main',
  time: 1_700_000_000,
  system: 'Tollgate',
}
const none: AlertAddress = { url: '', token: '', secret: '', to: '' }

type Kind = Parameters<typeof alertRequest>[0]

/** Sends a message to a local service in place of the real one, and returns the request that arrived. */
async function arrived(kind: Kind, address: (url: string) => Partial<AlertAddress>, answer = '{}', status = 200) {
  await using service = await startService((_, response) => response.writeHead(status).end(answer))
  const request = alertRequest(kind, { ...none, ...address(service.url) }, message, nowMs)
  const reply = await createPostMessage()(request, 'operator')
  const [seen] = service.requests
  return { ...seen, json: JSON.parse(seen?.body ?? '') as unknown, refusal: refusalOf(kind, reply) }
}

describe('each service gets exactly what its documentation asks for', () => {
  test('webhook, with a signature over the timestamp and the body', async () => {
    const secret = 'a secret of mine'
    const {
      headers,
      body = '',
      json,
      method,
      url,
    } = await arrived('webhook', (base) => ({ url: `${base}/in?x=1`, secret }))
    expect([method, url, headers?.['content-type']]).toEqual(['POST', '/in?x=1', 'application/json; charset=utf-8'])
    expect(json).toEqual(message)
    expect(headers?.['tollgate-delivery']).toBe('7')
    expect(headers?.['tollgate-timestamp']).toBe('1700000123')
    const expected = createHmac('sha256', secret).update(`1700000123.${body}`).digest('hex')
    expect(headers?.['tollgate-signature']).toBe(`v1=${expected}`)
  })

  test('Slack: bold title, and no mention of anybody', async () => {
    const { json } = await arrived('slack', (url) => ({ url }), 'ok')
    expect(json).toEqual({
      text: '*Firing: &lt;!channel&gt; ∗bold∗ &amp; co*\none &lt;@everyone&gt;\ntwo',
      unfurl_links: false,
    })
  })

  test('Discord: an embed that mentions nobody', async () => {
    const { json, refusal } = await arrived('discord', (url) => ({ url }), '', 204)
    expect(json).toEqual({
      embeds: [
        { title: message.title, description: message.text, color: 0xd92d20, timestamp: '2023-11-14T22:13:20.000Z' },
      ],
      allowed_mentions: { parse: [] },
    })
    expect(refusal).toBeUndefined()
  })

  test('Telegram: plain text to a chat, with the token in the path', async () => {
    const { json, url } = await arrived('telegram', (base) => ({ url: `${base}/`, token: '12:AB-c/d', to: '-100' }))
    expect(url).toBe('/bot12:AB-c%2Fd/sendMessage')
    expect(json).toEqual({
      chat_id: '-100',
      text: `${message.title}\n${message.text}`,
      link_preview_options: { is_disabled: true },
    })
  })

  test('Feishu: a post, signed with an HMAC of the empty text, whose key is the timestamp and the secret', async () => {
    const { json } = await arrived('feishu', (url) => ({ url, secret: 'S' }), '{"code":0,"msg":"success"}')
    expect(json).toEqual({
      timestamp: '1700000123',
      sign: createHmac('sha256', '1700000123\nS').update('').digest('base64'),
      msg_type: 'post',
      content: {
        post: {
          zh_cn: {
            title: message.title,
            content: [[{ tag: 'text', text: 'one <@everyone>' }], [{ tag: 'text', text: 'two' }]],
          },
        },
      },
    })
    expect((await arrived('feishu', (url) => ({ url }))).json).not.toHaveProperty('sign')
  })

  test('DingTalk: the signature is added to the URL', async () => {
    const { json, url = '' } = await arrived('dingtalk', (base) => ({
      url: `${base}/robot/send?access_token=t`,
      secret: 'SEC1',
    }))
    const query = new URL(url, 'http://x').searchParams
    expect(Object.fromEntries(query)).toEqual({
      access_token: 't',
      timestamp: String(nowMs),
      sign: createHmac('sha256', 'SEC1').update(`${nowMs}\nSEC1`).digest('base64'),
    })
    expect(json).toEqual({
      msgtype: 'text',
      text: { content: `${message.title}\n${message.text}` },
      at: { isAtAll: false },
    })
  })

  test('WeCom: at most 2,048 bytes, and no mention of anybody', async () => {
    const { json } = await arrived('wecom', (base) => ({ url: `${base}/cgi-bin/webhook/send?key=k` }))
    expect(json).toEqual({
      msgtype: 'text',
      text: { content: `${message.title}\none < @everyone>\ntwo` },
    })
    const long = alertRequest('wecom', { ...none, url: 'http://x' }, { ...message, text: '字'.repeat(2000) }, nowMs)
    const { text } = JSON.parse(long.body) as { text: { content: string } }
    expect(Buffer.byteLength(text.content)).toBeLessThanOrEqual(2048)
    expect(text.content.endsWith('字…')).toBe(true)
  })

  test('Bark: a push for the device', async () => {
    const { json, url } = await arrived('bark', (base) => ({ url: base, token: 'device' }), '{"code":200}')
    expect(url).toBe('/push')
    expect(json).toEqual({ device_key: 'device', title: message.title, body: message.text, group: 'Tollgate' })
  })

  test('ntfy: JSON with the topic, and the access token as a bearer token', async () => {
    const { json, url, headers } = await arrived('ntfy', (base) => ({ url: base, token: 'tk_1', to: 'alerts' }))
    expect([url, headers?.authorization]).toEqual(['/', 'Bearer tk_1'])
    expect(json).toEqual({
      topic: 'alerts',
      title: message.title,
      message: message.text,
      priority: 4,
      tags: ['warning'],
    })
    expect((await arrived('ntfy', (base) => ({ url: base, to: 'a' }))).headers).not.toHaveProperty('authorization')
  })

  test('without a URL, the message is sent to the public server of the service', () => {
    const url = (kind: Kind) => alertRequest(kind, { ...none, token: 'T', to: 'x' }, message, nowMs).url
    expect([url('telegram'), url('bark'), url('ntfy')]).toEqual([
      'https://api.telegram.org/botT/sendMessage',
      'https://api.day.app/push',
      'https://ntfy.sh/',
    ])
  })
})

describe('refusals', () => {
  test('an error code in a response with status 200 is a refusal', () => {
    const answer = (text: string) => ({ status: 200, text })
    expect(refusalOf('feishu', answer('{"code":19021,"msg":"sign match fail"}'))?.error).toBe('19021: sign match fail')
    expect(refusalOf('dingtalk', answer('{"errcode":310000,"errmsg":"keywords not in content"}'))?.error).toContain(
      '310000',
    )
    expect(refusalOf('wecom', answer('{"errcode":93000,"errmsg":"invalid webhook url"}'))?.error).toContain('invalid')
    expect(refusalOf('wecom', answer('{"errcode":0,"errmsg":"ok"}'))).toBeUndefined()
    expect(refusalOf('slack', answer('ok'))).toBeUndefined()
  })

  test('another attempt is made only after status 408, 429 and 5xx', () => {
    const isFinal = (status: number) => refusalOf('webhook', { status, text: '' })?.final
    expect([301, 400, 401, 404, 410].map(isFinal)).toEqual([true, true, true, true, true])
    expect([408, 429, 500, 503].map(isFinal)).toEqual([false, false, false, false])
  })

  test('the error contains the reason of the service only if it is short, without control characters and HTML', () => {
    const error = (text: string) => refusalOf('slack', { status: 403, text })?.error
    expect(error('invalid_token')).toBe('The service answered with status 403: invalid_token')
    expect(error('{"description":"Bad\\r\\nRequest"}')).toBe('The service answered with status 403: Bad Request')
    expect(error('<html>secret</html>')).toBe('The service answered with status 403')
  })
})
