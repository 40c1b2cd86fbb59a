import type { AlertKind } from './alert-conditions.ts'

export const alertLanguages = ['en', 'zh', 'ja'] as const

/** A language in which alerts are written. */
export type AlertLanguage = (typeof alertLanguages)[number]

/** Why a message is sent. */
export const alertEvents = ['firing', 'reminder', 'resolved'] as const

export type AlertEvent = (typeof alertEvents)[number]

/** The names that a template can contain in braces. */
export const alertPlaceholders = ['name', 'status', 'target', 'value', 'limit', 'time', 'system', 'link'] as const

export type AlertValues = Readonly<Record<(typeof alertPlaceholders)[number], string>>

/** The maximum lengths of a message's title and text, in characters; longer ones are truncated. */
const longestTitle = 200
const longestText = 1800

const placeholder = /\{(\w+)\}/g

/** The names in braces that are not placeholders. */
export function unknownPlaceholders(template: string): string[] {
  const names = [...template.matchAll(placeholder)].map(([, name = '']) => name)
  return names.filter((name) => !(alertPlaceholders as readonly string[]).includes(name))
}

/**
 * Replaces the placeholders in a single pass, so that a value that looks like a placeholder is not replaced in turn.
 * Control characters in values become spaces, because people choose the names of channels and tokens and could put line
 * breaks into them.
 */
function fill(template: string, values: AlertValues): string {
  return template.replaceAll(placeholder, (whole, name: string) =>
    name in values ? values[name as keyof AlertValues].replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ') : whole,
  )
}

const cut = (text: string, most: number) => {
  const letters = [...text]
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text
}

/** Fills in the templates of a message. An empty template means the default one. The title is always a single line. */
export function alertText(
  { title, text }: { title: string; text: string },
  about: { kind: AlertKind; event: AlertEvent; language: AlertLanguage },
  values: AlertValues,
): { title: string; text: string } {
  const usual = usualTemplates(about)
  return {
    title: cut(
      fill(title.trim() || usual.title, values)
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim(),
      longestTitle,
    ),
    text: cut(
      fill(text.trim() || usual.text, values)
        .replaceAll(/\r\n?/g, '\n')
        .replaceAll(/[^\P{Cc}\n]+/gu, ' ')
        .trim(),
      longestText,
    ),
  }
}

/** The templates that apply if a rule has none of its own. */
export function usualTemplates({
  kind,
  event,
  language,
}: {
  kind: AlertKind
  event: AlertEvent
  language: AlertLanguage
}) {
  const { head, sentences, at } = usual[language]
  const sentence = event === 'resolved' ? usual[language].resolved : sentences[kind]
  return { title: `${head[event]}{name}`, text: `${sentence}\n${at}` }
}

/** The text that replaces `{status}`. */
export function statusWord(event: AlertEvent, language: AlertLanguage): string {
  return usual[language].status[event]
}

const usual: Readonly<
  Record<
    AlertLanguage,
    {
      head: Record<AlertEvent, string>
      status: Record<AlertEvent, string>
      resolved: string
      at: string
      sentences: Record<AlertKind, string>
    }
  >
> = {
  en: {
    head: { firing: 'Firing: ', reminder: 'Still firing: ', resolved: 'Resolved: ' },
    status: { firing: 'firing', reminder: 'still firing', resolved: 'resolved' },
    resolved: 'The condition no longer applies to {target}.',
    at: '{time}\n{link}',
    sentences: {
      error_rate: '{value} of the requests fail. The limit is {limit}.',
      channel_error_rate: '{value} of the attempts at {target} fail. The limit is {limit}.',
      channel_disabled: '{target} was disabled automatically.',
      daily_spend: '{value} were spent today. The limit is {limit}.',
      user_spend_jump: '{target} spent {value} times their usual daily amount today. The limit is {limit} times.',
      upstream_balance: 'The balance of {target} at its provider is {value}. The limit is {limit}.',
      price_held: '{target} has prices from its price list that wait for a decision.',
      price_feed_failed: 'The price list of {target} cannot be read. Its prices stay as they are.',
      channel_loss:
        'The requests of {target} cost {value} more than was charged for them in the last 24 hours. The limit is {limit}.',
      first_byte_p95: '5% of the responses take longer than {value} to begin. The limit is {limit}.',
      ledger_fault: 'Amounts of {target} do not add up. Run the audit command for details.',
      own_balance: 'Your balance is {value}. The limit is {limit}.',
      own_spend: 'You spent {value} today. The limit is {limit}.',
      own_token_quota: 'The token {target} has {value} left. The limit is {limit}.',
      own_token_expiry: 'The token {target} expires in {value}.',
      own_error_rate: '{value} of your requests fail. The limit is {limit}.',
    },
  },
  zh: {
    head: { firing: '告警：', reminder: '持续告警：', resolved: '已恢复：' },
    status: { firing: '告警', reminder: '持续告警', resolved: '已恢复' },
    resolved: '{target} 已恢复正常。',
    at: '{time}\n{link}',
    sentences: {
      error_rate: '{value} 的请求失败，阈值为 {limit}。',
      channel_error_rate: '{target} 有 {value} 的请求失败，阈值为 {limit}。',
      channel_disabled: '{target} 已被自动禁用。',
      daily_spend: '今日消费 {value}，阈值为 {limit}。',
      user_spend_jump: '用户 {target} 今日消费是平时的 {value} 倍，阈值为 {limit} 倍。',
      upstream_balance: '{target} 的上游余额为 {value}，阈值为 {limit}。',
      price_held: '{target} 的价目表中有价格等待确认。',
      price_feed_failed: '无法读取 {target} 的价目表，价格保持不变。',
      channel_loss: '最近 24 小时，{target} 的请求成本比收费高出 {value}，阈值为 {limit}。',
      first_byte_p95: '5% 的响应首字节时间超过 {value}，阈值为 {limit}。',
      ledger_fault: '{target} 的账目不平，请运行 audit 命令查看详情。',
      own_balance: '您的余额为 {value}，阈值为 {limit}。',
      own_spend: '您今日已消费 {value}，阈值为 {limit}。',
      own_token_quota: '令牌 {target} 剩余额度为 {value}，阈值为 {limit}。',
      own_token_expiry: '令牌 {target} 将在 {value} 后过期。',
      own_error_rate: '您有 {value} 的请求失败，阈值为 {limit}。',
    },
  },
  ja: {
    head: { firing: '発生：', reminder: '継続中：', resolved: '解消：' },
    status: { firing: '発生中', reminder: '継続中', resolved: '解消' },
    resolved: '{target} は条件に該当しなくなりました。',
    at: '{time}\n{link}',
    sentences: {
      error_rate: 'リクエストの {value} が失敗しています。上限は {limit} です。',
      channel_error_rate: '{target} への試行の {value} が失敗しています。上限は {limit} です。',
      channel_disabled: '{target} は自動的に無効になりました。',
      daily_spend: '本日の利用額は {value} です。上限は {limit} です。',
      user_spend_jump: '{target} の本日の利用額は通常の {value} 倍です。上限は {limit} 倍です。',
      upstream_balance: '{target} のプロバイダーでの残高は {value} です。下限は {limit} です。',
      price_held: '{target} の価格表に、確認を待っている価格があります。',
      price_feed_failed: '{target} の価格表を読み取れません。価格はそのままです。',
      channel_loss:
        '過去 24 時間の {target} のリクエストの原価が、請求額を {value} 上回っています。上限は {limit} です。',
      first_byte_p95: 'レスポンスの 5% は初回バイトまでに {value} より長くかかっています。上限は {limit} です。',
      ledger_fault: '{target} の金額が一致しません。詳しくは audit コマンドを実行してください。',
      own_balance: '残高は {value} です。下限は {limit} です。',
      own_spend: '本日の利用額は {value} です。上限は {limit} です。',
      own_token_quota: 'トークン {target} のクォータは残り {value} です。下限は {limit} です。',
      own_token_expiry: 'トークン {target} は {value} で期限切れになります。',
      own_error_rate: 'ご自身のリクエストの {value} が失敗しています。上限は {limit} です。',
    },
  },
}
