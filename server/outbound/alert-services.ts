import { createHmac } from 'node:crypto'
import { type DestinationKindName, destinationKind } from '../../contract/alert-destinations.ts'
import type { AlertEvent } from '../../contract/alert-text.ts'
import { isObject, tryParse } from '../lib/json.ts'
import type { MessageAnswer, OutgoingMessage } from './post-message.ts'

/** The destination of messages to a service. Fields that the service does not use are ''. */
export interface AlertAddress {
  url: string
  token: string
  secret: string
  to: string
}

/** A message for a service. All services get its title and text. Only webhooks get the other fields. */
export interface AlertMessage {
  /** The id of the delivery. If sending fails, the next attempt has the same id. */
  id: string
  event: AlertEvent | 'summary' | 'test'
  title: string
  text: string
  rule: string
  target: string
  /** The time of the event, in seconds since 1970. */
  time: number
  system: string
}

type HttpKind = Exclude<DestinationKindName, 'mail'>
type Build = (address: AlertAddress, message: AlertMessage, nowMs: number) => OutgoingMessage

/** The request that delivers a message to a service. `nowMs` is the timestamp that is sent and signed. */
export function alertRequest(
  kind: HttpKind,
  address: AlertAddress,
  message: AlertMessage,
  nowMs: number,
): OutgoingMessage {
  return builders[kind](address, message, nowMs)
}

const json = (url: string, body: object, headers?: Record<string, string>): OutgoingMessage => ({
  url,
  body: JSON.stringify(body),
  ...(headers && { headers }),
})

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text)
const both = ({ title, text }: AlertMessage) => (text === '' ? title : `${title}\n${text}`)
const server = (kind: DestinationKindName, { url }: AlertAddress) =>
  (url || (destinationKind(kind).server ?? '')).replace(/\/+$/, '')

/** Escapes text for Slack. Names of channels and tokens may contain any text, for example a mention of everybody. */
const slackText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The maximum length of a text for WeCom, which counts bytes and refuses longer texts. */
const mostWecomBytes = 2048
const discordColors = { firing: 0xd92d20, reminder: 0xd92d20, resolved: 0x067647, summary: 0x475467, test: 0x475467 }

const builders: Readonly<Record<HttpKind, Build>> = {
  webhook: ({ url, secret }, message, nowMs) => {
    const body = JSON.stringify(message)
    const timestamp = String(Math.floor(nowMs / 1000))
    return {
      url,
      body,
      headers: {
        'tollgate-delivery': message.id,
        'tollgate-timestamp': timestamp,
        ...(secret !== '' && { 'tollgate-signature': `v1=${hmac(secret, `${timestamp}.${body}`).digest('hex')}` }),
      },
    }
  },
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: ({ url }, { title, text }) => {
    const bold = slackText(title).replaceAll('*', '∗')
    return json(url, { text: text === '' ? `*${bold}*` : `*${bold}*\n${slackText(text)}`, unfurl_links: false })
  },
  // https://discord.com/developers/docs/resources/webhook#execute-webhook
  discord: ({ url }, { title, text, event, time }) =>
    json(url, {
      embeds: [
        {
          title,
          description: text,
          color: discordColors[event],
          timestamp: new Date(time * 1000).toISOString(),
        },
      ],
      allowed_mentions: { parse: [] },
    }),
  // https://core.telegram.org/bots/api#sendmessage; without parse_mode, the text is shown unchanged.
  telegram: (address, message) =>
    json(`${server('telegram', address)}/bot${encodeURIComponent(address.token).replaceAll('%3A', ':')}/sendMessage`, {
      chat_id: address.to,
      text: both(message),
      link_preview_options: { is_disabled: true },
    }),
  // https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot; tags in the text are shown as plain text.
  feishu: ({ url, secret }, { title, text }, nowMs) => {
    const timestamp = String(Math.floor(nowMs / 1000))
    const content = text.split('\n').map((line) => [{ tag: 'text', text: line }])
    return json(url, {
      ...(secret !== '' && { timestamp, sign: hmac(`${timestamp}\n${secret}`, '').digest('base64') }),
      msg_type: 'post',
      content: { post: { zh_cn: { title, content } } },
    })
  },
  // https://open.dingtalk.com/document/robots/customize-robot-security-settings
  dingtalk: ({ url, secret }, message, nowMs) => {
    const target = new URL(url)
    if (secret !== '') {
      target.searchParams.set('timestamp', String(nowMs))
      target.searchParams.set('sign', hmac(secret, `${nowMs}\n${secret}`).digest('base64'))
    }
    return json(target.href, { msgtype: 'text', text: { content: both(message) }, at: { isAtAll: false } })
  },
  // https://developer.work.weixin.qq.com/document/path/91770
  wecom: ({ url }, message) =>
    json(url, { msgtype: 'text', text: { content: shortened(both(message).replaceAll('<@', '< @'), mostWecomBytes) } }),
  // https://bark.day.app/#/en-us/tutorial
  bark: (address, { title, text, system }) =>
    json(`${server('bark', address)}/push`, { device_key: address.token, title, body: text || title, group: system }),
  // https://docs.ntfy.sh/publish/#publish-as-json
  ntfy: (address, { title, text, event }) =>
    json(
      `${server('ntfy', address)}/`,
      {
        topic: address.to,
        title,
        message: text || title,
        priority: event === 'firing' ? 4 : 3,
        tags: [event === 'resolved' ? 'white_check_mark' : event === 'test' ? 'wave' : 'warning'],
      },
      address.token === '' ? undefined : { authorization: `Bearer ${address.token}` },
    ),
}

function shortened(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text
  let [short, bytes] = ['', 3]
  for (const letter of text) {
    bytes += Buffer.byteLength(letter)
    if (bytes > mostBytes) break
    short += letter
  }
  return `${short}…`
}

/** Why a service did not accept a message, and whether another attempt can help; undefined if it accepted it. */
export function refusalOf(
  kind: HttpKind,
  { status, text }: MessageAnswer,
): { error: string; final: boolean } | undefined {
  const body = tryParse(text)
  const said = isObject(body) ? body : {}
  if (status >= 200 && status < 300) {
    // Feishu, DingTalk and WeCom report failures with status 200.
    const code = { feishu: said['code'] ?? said['StatusCode'], dingtalk: said['errcode'], wecom: said['errcode'] }[
      kind as string
    ]
    return code === undefined || code === 0 ? undefined : { error: `${code}: ${reasonIn(said)}`, final: false }
  }
  if (status >= 300 && status < 400)
    return { error: `The service redirects to another URL (status ${status}), which is not followed.`, final: true }
  const final = status >= 400 && status < 500 && status !== 408 && status !== 429
  const reason = reasonIn(said) || (isPlain(text) ? text : '')
  return { error: `The service answered with status ${status}${reason ? `: ${clean(reason)}` : ''}`, final }
}

/** The error message in a response. Its field has a different name in each service. */
function reasonIn(said: Readonly<Record<string, unknown>>): string {
  const reason = said['description'] ?? said['message'] ?? said['msg'] ?? said['errmsg'] ?? said['error']
  return typeof reason === 'string' ? clean(reason) : ''
}

/** True for a short text of letters, digits and punctuation, such as Slack's `no_service`. */
const isPlain = (text: string) => /^[\w .,:!-]{1,120}$/.test(text.trim())
const clean = (text: string) =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200)
