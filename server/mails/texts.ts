import type { Statement } from '../../contract/api/statement.ts'

/** The languages in which emails are written, with their BCP 47 tags. */
export const mailLanguageTags = { en: 'en', zh: 'zh-CN', ja: 'ja' } as const

/** A language in which emails are written. */
export type MailLanguage = keyof typeof mailLanguageTags

/** The content of an email, before formatting. */
export interface MailText {
  subject: string
  /** The heading above the lines in the HTML form. */
  title: string
  lines: readonly string[]
  /** Labels with amounts, shown as a table below the lines. */
  amounts?: readonly { label: string; amount: string; strong?: boolean }[]
  /** A code, shown in large type for copying. */
  code?: string
  /** The only action that the email offers, as a button and as a plain URL. */
  link?: { label: string; address: string }
  /** A note, shown in small type at the end. */
  note?: string
}

/** A monthly statement in an email. */
export interface StatementMail {
  username: string
  /** YYYY-MM. */
  month: string
  amount(quota: number): string
  balances: Omit<Statement, 'month' | 'time_zone' | 'start' | 'end' | 'user'>
  /** URL of the statement. */
  address: string
}

/** The lines of a statement: the balance, its changes, and the charges by model. */
function statementAmounts(
  { amount, balances }: StatementMail,
  labels: Record<'opening' | 'top_ups' | 'bonuses' | 'adjustments' | 'charges' | 'closing' | 'unnamed', string>,
): NonNullable<MailText['amounts']> {
  const changes = ['top_ups', 'bonuses', 'adjustments'] as const
  return [
    { label: labels.opening, amount: amount(balances.opening) },
    ...changes.flatMap((each) =>
      balances[each] === 0 ? [] : [{ label: labels[each], amount: amount(balances[each]) }],
    ),
    { label: labels.charges, amount: amount(-balances.charges) },
    ...balances.models.map(({ model, quota }) => ({ label: `  ${model || labels.unnamed}`, amount: amount(-quota) })),
    { label: labels.closing, amount: amount(balances.closing), strong: true },
  ]
}

/** Every email of the product. `name` is the option SystemName. */
interface MailTexts {
  /** The text around every email. */
  frame: { openInstead: string; sentBy(name: string): string }
  verification(name: string, code: string, minutes: number): MailText
  addressInUse(name: string, resetAddress: string): MailText
  reset(name: string, username: string, address: string, minutes: number): MailText
  /** Sent to the previous address of an account. */
  addressReplaced(name: string, username: string): MailText
  quotaLow(name: string, username: string, quota: string, topUpAddress: string): MailText
  quotaUsedUp(name: string, username: string, topUpAddress: string): MailText
  statement(name: string, statement: StatementMail): MailText
  notice(name: string, subject: string, text: string): MailText
  test(name: string): MailText
}

const en: MailTexts = {
  frame: {
    openInstead: "If the button doesn't work, open this link:",
    sentBy: (name) => `Sent automatically by ${name}`,
  },
  verification: (name, code, minutes) => ({
    subject: `${name}: your verification code is ${code}`,
    title: 'Confirm your email address',
    lines: ['Enter this code to confirm your email address:'],
    code,
    note: `The code works once and expires in ${minutes} minutes. If you didn't request it, you can ignore this email.`,
  }),
  addressInUse: (name, address) => ({
    subject: `${name}: you already have an account`,
    title: 'You already have an account',
    lines: [
      'Someone, probably you, requested a verification code for this email address. The address already belongs to an account, so you can just log in. If you forgot your password, you can reset it.',
    ],
    link: { label: 'Reset password', address },
    note: "If this wasn't you, you can ignore this email.",
  }),
  reset: (name, username, address, minutes) => ({
    subject: `${name}: reset your password`,
    title: 'Reset your password',
    lines: [
      `Someone, probably you, asked to reset the password of the account ${username}. Use this link to get a new password:`,
    ],
    link: { label: 'Reset password', address },
    note: `The link works once and expires in ${minutes} minutes. If you didn't request it, you can ignore this email; your password stays the same.`,
  }),
  addressReplaced: (name, username) => ({
    subject: `${name}: the email address of your account has changed`,
    title: 'The email address of your account has changed',
    lines: [
      `The email address of the account ${username} was changed. Emails about the account, including password reset links, will no longer be sent to this address.`,
    ],
    note: "If this wasn't you, change your password immediately and contact your administrator.",
  }),
  quotaLow: (name, username, quota, address) => ({
    subject: `${name}: your balance is running low`,
    title: 'Your balance is running low',
    lines: [`The account ${username} has ${quota} left. Top up to avoid interruptions.`],
    link: { label: 'Top up', address },
  }),
  quotaUsedUp: (name, username, address) => ({
    subject: `${name}: your balance is used up`,
    title: 'Your balance is used up',
    lines: [`The account ${username} has no balance left. Requests are rejected until you top up.`],
    link: { label: 'Top up', address },
  }),
  statement: (name, statement) => ({
    subject: `${name}: your statement for ${statement.month}`,
    title: `Statement for ${statement.month}`,
    lines: [
      `The account ${statement.username} in ${statement.month}. The month begins and ends at 00:00 UTC.`,
      ...(statement.balances.is_exact
        ? []
        : [
            'The balances are not certain: some earlier changes of the balance were not recorded, and their month is not known.',
          ]),
    ],
    amounts: statementAmounts(statement, {
      opening: 'Opening balance',
      top_ups: 'Top-ups',
      bonuses: 'Bonuses',
      adjustments: 'Adjustments by admins',
      charges: 'Usage',
      closing: 'Closing balance',
      unnamed: 'without a name',
    }),
    link: { label: 'View statement', address: statement.address },
    note: 'You can switch these emails off on the statement page.',
  }),
  notice: (name, subject, text) => ({ subject: `${name}: ${subject}`, title: subject, lines: text.split('\n') }),
  test: (name) => ({
    subject: `${name}: test email`,
    title: 'Test email',
    lines: ['Your email settings work. This email was sent with them.'],
  }),
}

const zh: MailTexts = {
  frame: {
    openInstead: '如果按钮无法使用，请打开以下地址：',
    sentBy: (name) => `本邮件由 ${name} 自动发送`,
  },
  verification: (name, code, minutes) => ({
    subject: `${name}：您的验证码是 ${code}`,
    title: '确认邮箱地址',
    lines: ['请输入以下验证码以确认您的邮箱地址：'],
    code,
    note: `验证码仅可使用一次，${minutes} 分钟内有效。如果不是您本人操作，请忽略本邮件。`,
  }),
  addressInUse: (name, address) => ({
    subject: `${name}：该邮箱已有账户`,
    title: '您已有账户',
    lines: [
      '有人（可能是您）为该邮箱地址申请了验证码。该邮箱已绑定账户，无需验证码，请直接登录。如果忘记了密码，可以重置密码。',
    ],
    link: { label: '重置密码', address },
    note: '如果不是您本人操作，请忽略本邮件。',
  }),
  reset: (name, username, address, minutes) => ({
    subject: `${name}：重置密码`,
    title: '重置密码',
    lines: [`账户 ${username} 申请了重置密码。请点击链接获取新密码：`],
    link: { label: '重置密码', address },
    note: `链接仅可使用一次，${minutes} 分钟内有效。如果不是您本人操作，请忽略本邮件，您的密码不会改变。`,
  }),
  addressReplaced: (name, username) => ({
    subject: `${name}：您的账户已更换邮箱`,
    title: '您的账户已更换邮箱',
    lines: [`账户 ${username} 绑定的邮箱已更换。有关该账户的邮件和重置密码的链接将不再发送到此邮箱。`],
    note: '如果不是您本人操作，请立即修改密码并联系管理员。',
  }),
  quotaLow: (name, username, quota, address) => ({
    subject: `${name}：您的额度即将用尽`,
    title: '您的额度即将用尽',
    lines: [`账户 ${username} 的剩余额度为 ${quota}。为了不影响您的使用，请及时充值。`],
    link: { label: '充值', address },
  }),
  quotaUsedUp: (name, username, address) => ({
    subject: `${name}：您的额度已用尽`,
    title: '您的额度已用尽',
    lines: [`账户 ${username} 的额度已用尽，充值之前的调用将被拒绝。`],
    link: { label: '充值', address },
  }),
  statement: (name, statement) => ({
    subject: `${name}：${statement.month} 账单`,
    title: `${statement.month} 账单`,
    lines: [
      `账户 ${statement.username} 在 ${statement.month} 的账单。月份按 UTC 计算。`,
      ...(statement.balances.is_exact ? [] : ['余额并不确定：此前的部分变动没有记录，无法得知发生在哪个月。']),
    ],
    amounts: statementAmounts(statement, {
      opening: '期初余额',
      top_ups: '充值',
      bonuses: '奖励',
      adjustments: '管理员调整',
      charges: '用量',
      closing: '期末余额',
      unnamed: '无名称',
    }),
    link: { label: '查看账单', address: statement.address },
    note: '您可以在账单页面关闭此类邮件。',
  }),
  notice: (name, subject, text) => ({ subject: `${name}：${subject}`, title: subject, lines: text.split('\n') }),
  test: (name) => ({
    subject: `${name}：测试邮件`,
    title: '测试邮件',
    lines: ['邮件设置正常：本邮件即由该设置发送。'],
  }),
}

const ja: MailTexts = {
  frame: {
    openInstead: 'ボタンが使えない場合は、次のリンクを開いてください：',
    sentBy: (name) => `このメールは ${name} から自動送信されています`,
  },
  verification: (name, code, minutes) => ({
    subject: `${name}：確認コードは ${code} です`,
    title: 'メールアドレスの確認',
    lines: ['次のコードを入力して、メールアドレスを確認してください：'],
    code,
    note: `コードは 1 回だけ使え、${minutes} 分で無効になります。心当たりがない場合は、このメールを無視してください。`,
  }),
  addressInUse: (name, address) => ({
    subject: `${name}：アカウントはすでにあります`,
    title: 'アカウントはすでにあります',
    lines: [
      'このメールアドレスの確認コードが要求されました。このアドレスはすでにアカウントに登録されているため、そのままログインできます。パスワードを忘れた場合は、再設定できます。',
    ],
    link: { label: 'パスワードを再設定', address },
    note: '心当たりがない場合は、このメールを無視してください。',
  }),
  reset: (name, username, address, minutes) => ({
    subject: `${name}：パスワードの再設定`,
    title: 'パスワードの再設定',
    lines: [
      `アカウント ${username} のパスワードの再設定が要求されました。次のリンクから新しいパスワードを取得できます：`,
    ],
    link: { label: 'パスワードを再設定', address },
    note: `リンクは 1 回だけ使え、${minutes} 分で無効になります。心当たりがない場合は、このメールを無視してください。パスワードは変わりません。`,
  }),
  addressReplaced: (name, username) => ({
    subject: `${name}：アカウントのメールアドレスが変更されました`,
    title: 'アカウントのメールアドレスが変更されました',
    lines: [
      `アカウント ${username} のメールアドレスが変更されました。パスワード再設定のリンクなど、このアカウントに関するメールは今後このアドレスには送信されません。`,
    ],
    note: '心当たりがない場合は、すぐにパスワードを変更し、管理者に連絡してください。',
  }),
  quotaLow: (name, username, quota, address) => ({
    subject: `${name}：残高が少なくなっています`,
    title: '残高が少なくなっています',
    lines: [`アカウント ${username} の残高は ${quota} です。中断を避けるには、チャージしてください。`],
    link: { label: 'チャージ', address },
  }),
  quotaUsedUp: (name, username, address) => ({
    subject: `${name}：残高を使い切りました`,
    title: '残高を使い切りました',
    lines: [`アカウント ${username} の残高がなくなりました。チャージするまで、リクエストは拒否されます。`],
    link: { label: 'チャージ', address },
  }),
  statement: (name, statement) => ({
    subject: `${name}：${statement.month} の明細`,
    title: `${statement.month} の明細`,
    lines: [
      `アカウント ${statement.username} の ${statement.month} の明細です。月は UTC の 0:00 に始まり、終わります。`,
      ...(statement.balances.is_exact
        ? []
        : ['残高は確実ではありません。以前の残高の変更には記録されていないものがあり、その月がわからないためです。']),
    ],
    amounts: statementAmounts(statement, {
      opening: '月初の残高',
      top_ups: 'チャージ',
      bonuses: 'ボーナス',
      adjustments: '管理者による調整',
      charges: '使用量',
      closing: '月末の残高',
      unnamed: '名前なし',
    }),
    link: { label: '明細を表示', address: statement.address },
    note: 'このメールは、明細のページで停止できます。',
  }),
  notice: (name, subject, text) => ({ subject: `${name}：${subject}`, title: subject, lines: text.split('\n') }),
  test: (name) => ({
    subject: `${name}：テストメール`,
    title: 'テストメール',
    lines: ['メールの設定は正しく動作しています。このメールはその設定で送信されました。'],
  }),
}

export const mailTexts: Readonly<Record<MailLanguage, MailTexts>> = { en, zh, ja }

const isMailLanguage = (language: string | undefined): language is MailLanguage =>
  language !== undefined && Object.hasOwn(mailTexts, language)

/** The language with texts that a browser prefers (Accept-Language). `fallback` if the browser accepts none of them. */
export function languageOf(acceptLanguage: string | undefined, fallback: MailLanguage): MailLanguage {
  const wanted = (acceptLanguage ?? '')
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined)
      return { language: tag.split('-')[0], weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return wanted.map(({ language }) => language).find(isMailLanguage) ?? fallback
}
