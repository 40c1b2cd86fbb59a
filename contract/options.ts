import type { OptionSection } from './option-sections.ts'

/**
 * The type of an option. `json` is the text of a JSON object, `list` a comma-separated list; all are stored as text.
 */
export type OptionKind = 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'json' | 'choice'

export interface OptionDefinition {
  kind: OptionKind
  /** The default, in its stored form. */
  default: string
  /** The range of a number. */
  min?: number
  max?: number
  /** Allowed values of a choice. */
  choices?: readonly string[]
  /** The type of each value in a JSON object; a number by default. */
  entries?: 'limits'
  unit?: 'seconds' | 'minutes' | 'days' | 'quota' | 'tokens' | 'bytes' | 'currency'
  /** It can be written, but the API never returns it. */
  secret?: true
  /** The option's section on the settings page and in the docs. */
  section: OptionSection
  /** The role that may write the option; reading it requires the admin role. */
  writer: 'admin' | 'root'
  description: string
}

type WithoutSection = Omit<OptionDefinition, 'section'>
type Kind<K extends OptionKind> = WithoutSection & { kind: K }

/** Puts options into a section. */
function section<const S extends OptionSection, const D extends Record<string, WithoutSection>>(
  section: S,
  definitions: D,
): { [K in keyof D]: D[K] & { section: S } } {
  return Object.fromEntries(
    Object.entries(definitions).map(([key, definition]) => [key, { ...definition, section }]),
  ) as { [K in keyof D]: D[K] & { section: S } }
}

const bool = (value: boolean, writer: 'admin' | 'root', description: string): Kind<'boolean'> => ({
  kind: 'boolean',
  default: String(value),
  writer,
  description,
})
const text = (writer: 'admin' | 'root', description: string, value = ''): Kind<'text'> => ({
  kind: 'text',
  default: value,
  writer,
  description,
})
const secret = (description: string): Kind<'text'> => ({
  kind: 'text',
  default: '',
  secret: true,
  writer: 'root',
  description,
})
const quota = (value: number, writer: 'admin' | 'root', description: string): Kind<'integer'> => ({
  kind: 'integer',
  default: String(value),
  min: 0,
  max: 1e15,
  unit: 'quota',
  writer,
  description,
})
const seconds = (value: number, description: string, zero = 'no limit'): Kind<'number'> => ({
  kind: 'number',
  default: String(value),
  min: 0,
  max: 86_400,
  unit: 'seconds',
  writer: 'admin',
  description: `${description} 0 = ${zero}.`,
})
const days = (description: string, value = 0): Kind<'integer'> => ({
  kind: 'integer',
  default: String(value),
  min: 0,
  max: 36_500,
  unit: 'days',
  writer: 'root',
  description: `${description} 0 = kept for ever.`,
})
const table = (value: string, description: string): Kind<'json'> => ({
  kind: 'json',
  default: value,
  writer: 'root',
  description,
})

/** Every option: type, default, unit, who may write it and what it does. Server, console and docs read this table. */
export const optionDefinitions = {
  ...section('login', {
    PasswordLoginEnabled: bool(true, 'root', 'People may log in with a password; root always may.'),
    PasswordRegisterEnabled: bool(true, 'root', 'People may register with a password.'),
    RegisterEnabled: bool(true, 'root', 'New accounts may be made by registering or by a first outside login.'),
    EmailVerificationEnabled: bool(false, 'root', 'Registering needs a code sent by e-mail.'),
    EmailDomainRestrictionEnabled: bool(false, 'root', 'Only addresses of the listed domains may register.'),
    EmailDomainWhitelist: {
      kind: 'list',
      default: 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com',
      writer: 'root',
      description: 'Domains allowed by EmailDomainRestrictionEnabled.',
    },
  }),
  ...section('code-hosting', {
    GitHubOAuthEnabled: bool(false, 'root', 'Login and binding by the code-hosting OAuth.'),
    GitHubClientId: text('root', 'Client id of the code-hosting OAuth application.'),
    GitHubClientSecret: secret('Client secret of the code-hosting OAuth application.'),
    GitHubOAuthBaseURL: text(
      'root',
      'Address of the code-hosting service; another one for GitHub Enterprise.',
      'https://github.com',
    ),
    GitHubApiBaseURL: text(
      'root',
      'Address of its API; https://<host>/api/v3 for GitHub Enterprise.',
      'https://api.github.com',
    ),
    OAuthStateOptional: bool(
      false,
      'root',
      'Accept outside logins without a state, as one-api consoles before 0.5.5 send them. Another site can then log people in to an account of its own: leave it off.',
    ),
  }),
  ...section('wechat', {
    WeChatAuthEnabled: bool(false, 'root', 'Login and binding by WeChat.'),
    WeChatServerAddress: text('root', 'Address of the WeChat helper server.'),
    WeChatServerToken: secret('Access token of the WeChat helper server.'),
    WeChatAccountQRCodeImageURL: text('root', 'QR code of the official account.'),
  }),
  ...section('bot-check', {
    TurnstileCheckEnabled: bool(false, 'root', 'Bot check on registering and on mails.'),
    TurnstileSiteKey: text('root', 'Site key of the bot check.'),
    TurnstileSecretKey: secret('Secret key of the bot check.'),
    TurnstileVerifyURL: text(
      'root',
      'Where answers of the bot check are verified; any service with the same call.',
      'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    ),
  }),
  ...section('mail', {
    SMTPServer: text('root', 'Host of the mail server.'),
    SMTPPort: {
      kind: 'integer',
      default: '587',
      min: 1,
      max: 65_535,
      writer: 'root',
      description: 'Port of the mail server; 465 means TLS from the start.',
    },
    SMTPSecurity: {
      kind: 'choice',
      default: 'auto',
      choices: ['auto', 'tls', 'starttls', 'none'],
      writer: 'root',
      description:
        'auto: TLS on port 465, plain to this machine itself, STARTTLS anywhere else. Certificates are always checked. none sends mails and the password readable by the network.',
    },
    SMTPAccount: text('root', 'Account on the mail server.'),
    SMTPFrom: text('root', 'Sender address; empty = SMTPAccount.'),
    SMTPToken: secret('Password of the mail account.'),
    MailLanguage: {
      kind: 'choice',
      default: 'en',
      choices: ['en', 'zh'],
      writer: 'admin',
      description: "Language of mails when the recipient's browser asks for none of them or plays no part.",
    },
  }),
  ...section('address', {
    ServerAddress: text(
      'root',
      'Public address of this server, used in mails and links. Whoever sets it decides where the links for new passwords lead.',
    ),
  }),
  ...section('pages', {
    SystemName: text('admin', 'Name shown in the console and in mails.', 'Tollgate'),
    Logo: text('admin', 'Address of the logo.'),
    Footer: text('admin', 'HTML of the footer.'),
    Notice: text('admin', 'Notice to everybody, Markdown or HTML.'),
    About: text('admin', 'About page, Markdown or an https address shown in a frame.'),
    HomePageContent: text('admin', 'Home page, Markdown or an https address shown in a frame.'),
  }),
  ...section('updates', {
    UpdateFeedURL: text(
      'root',
      'Address of the record of the latest release, JSON with tag_name and body. Read when an admin asks; empty = updates cannot be looked for.',
    ),
  }),
  ...section('general', {
    TopUpLink: text('admin', 'Where people get redemption codes.'),
    ChatLink: text('root', 'Chat page shown in the menu. Links of tokens hand it whole keys, so it must be trusted.'),
    QuotaPerUnit: {
      kind: 'number',
      default: '500000',
      min: 1,
      max: 1e12,
      unit: 'quota',
      writer: 'root',
      description: 'Quota that makes one currency unit; for display and conversion only.',
    },
    DisplayInCurrencyEnabled: bool(true, 'admin', 'Show quota as currency.'),
    DisplayTokenStatEnabled: bool(true, 'admin', "The billing calls show the token's figures rather than the user's."),
    LogConsumeEnabled: bool(true, 'admin', 'Write a log row for every charged call.'),
    LogErrorsEnabled: bool(true, 'admin', 'Write a log row for every call that failed.'),
    LogRetentionDays: days('Log rows older than this are deleted, those of failed calls apart; usage figures stay.'),
    ErrorLogRetentionDays: days('Log rows of failed calls older than this are deleted.', 30),
    AuditRetentionDays: days('Audit events older than this are deleted.'),
  }),
  ...section('quota', {
    QuotaForNewUser: quota(0, 'root', 'Given to every new account.'),
    QuotaForInviter: quota(0, 'root', 'Given to who invited a new account.'),
    QuotaForInvitee: quota(0, 'root', 'Given to an invited new account.'),
    QuotaRemindThreshold: quota(1000, 'admin', 'Falling below it sends one reminder mail.'),
    PreConsumedQuota: {
      kind: 'integer',
      default: '500',
      min: 0,
      max: 1_000_000,
      unit: 'tokens',
      writer: 'root',
      description:
        'Slice of completion tokens that a stream holds ahead of what it has delivered. 0 = one token: the hold grows with each piece.',
    },
    QuotaPolicy: {
      kind: 'choice',
      default: 'strict',
      choices: ['strict', 'compat'],
      writer: 'root',
      description:
        'strict: no balance ever goes below zero. compat: as one-api, a call that costs more than was held may overdraw.',
    },
    GroupLimits: {
      kind: 'json',
      entries: 'limits',
      default: '{}',
      writer: 'root',
      description:
        'Group name → limits of its users, such as {"default":{"rpm_limit":60,"tpm_limit":100000,"concurrency_limit":5,"daily_budget":500000,"monthly_budget":5000000}}; budgets in quota. Each holds for a user who has none of that kind. What is left out or 0 is no limit.',
    },
    HoldWaitTime: seconds(
      5,
      'How long a call waits for quota that other open calls of the same account may give back.',
      'it does not wait',
    ),
    ApproximateTokenEnabled: bool(false, 'admin', 'Count tokens as 0.38 of the bytes instead of with the tokenizer.'),
  }),
  ...section('ratios', {
    UnpricedModelPolicy: {
      kind: 'choice',
      default: 'refuse',
      choices: ['refuse', 'fallback'],
      writer: 'root',
      description:
        'A model without a price is refused, or charged at UnpricedModelRatio; a tool without a price is refused, or charged at UnpricedToolPrice.',
    },
    UnpricedModelRatio: {
      kind: 'number',
      default: '30',
      min: 0,
      max: 1e6,
      writer: 'root',
      description: 'Ratio of models without a price under UnpricedModelPolicy=fallback.',
    },
    UnpricedToolPrice: {
      kind: 'number',
      default: '0.05',
      min: 0,
      max: 1000,
      unit: 'currency',
      writer: 'root',
      description:
        'Price of a call of a tool that a service runs and that has no price, under UnpricedModelPolicy=fallback.',
    },
    ToolPrice: table(
      '{}',
      'Tool → price of one call in currency units, for tools that the service runs: web_search, file_search, code_interpreter, image_generation … Names may have a size (web_search:high), a model (web_search:gpt-5) or a channel type (web_search(14)). Overrides the built-in prices by name.',
    ),
    ModelRatio: table(
      '{}',
      'Model name → ratio (1 = $2 per million prompt tokens); overrides the built-in prices by name.',
    ),
    CompletionRatio: table('{}', 'Model name → price of a completion token over that of a prompt token.'),
    GroupRatio: table('{"default":1,"vip":1,"svip":1}', 'Group name → multiplier; a group exists by standing here.'),
    CacheRatio: table('{}', 'Model name → price of a cached prompt token over that of a prompt token.'),
    CreateCacheRatio: table(
      '{}',
      'Model name → price of a prompt token written to the cache over that of a prompt token.',
    ),
    AudioRatio: table('{}', 'Model name → price of an audio prompt token over that of a prompt token.'),
    AudioCompletionRatio: table(
      '{}',
      'Model name → price of an audio completion token over that of an audio prompt token.',
    ),
    ImageRatio: table('{}', 'Model name → price of an image prompt token over that of a prompt token.'),
    ModelPrice: table('{}', 'Model name → price of one call in currency units, instead of ratios.'),
    ServiceTierRatio: table(
      '{"flex":1,"flex(1)":0.5,"scale":1,"priority":2,"fast":2,"ultrafast":6,"geo-us":1.1,"priority:gpt-5.5":2.5,"fast:gpt-5.5":2.5}',
      'Service tier, tier:model or tier(channel type) → multiplier of calls in that tier. A tier that does not stand here is refused.',
    ),
  }),
  ...section('monitoring', {
    AutomaticDisableChannelEnabled: bool(false, 'admin', 'Disable a channel whose key is refused or without credit.'),
    AutomaticEnableChannelEnabled: bool(
      false,
      'admin',
      'Enable an automatically disabled channel that passes its test.',
    ),
    ChannelDisableThreshold: {
      kind: 'number',
      default: '5',
      min: 0,
      max: 86_400,
      unit: 'seconds',
      writer: 'admin',
      description: 'A channel slower than this in a test counts as failed. 0 = off.',
    },
    ChannelTestFrequency: {
      kind: 'integer',
      default: '0',
      min: 0,
      max: 43_200,
      unit: 'minutes',
      writer: 'admin',
      description: 'How often all channels are tested by themselves. 0 = never.',
    },
    NotifyWebhookURL: secret(
      'Address that gets a JSON message (title, text, content) when something happens that root should know, such as a channel being disabled.',
    ),
    MessagePusherAddress: text('root', 'Address of a Message Pusher server, which gets the same messages.'),
    MessagePusherToken: secret('Token of the Message Pusher server.'),
  }),
  ...section('relay', {
    RetryTimes: {
      kind: 'integer',
      default: '0',
      min: 0,
      max: 20,
      writer: 'admin',
      description: 'How many further channels are tried when one fails.',
    },
    StrictTranslationEnabled: bool(
      false,
      'admin',
      'Refuse a request of which something cannot be said to the channel in its dialect, instead of leaving it out and naming it in the answer (X-Tollgate-Dropped).',
    ),
    RetryAfterLimit: {
      kind: 'number',
      default: '60',
      min: 0,
      max: 86_400,
      unit: 'seconds',
      writer: 'admin',
      description: 'A channel that answers Retry-After is left alone for that long, but not longer than this.',
    },
    ConnectTimeout: seconds(10, 'Time to reach the upstream.'),
    FirstByteTimeout: seconds(120, 'Time from sending a request to the first byte of the answer.'),
    StreamIdleTimeout: seconds(60, 'Longest silence within a stream.'),
    RelayTimeout: seconds(0, 'Time for a whole call.'),
    CallerIdleTimeout: seconds(
      120,
      'Longest time for which a caller may leave a stream or sound unread, or its request unfinished (of a relayed one a second more for each 32 KiB).',
    ),
    RealtimeIdleTimeout: seconds(900, 'Longest time for which neither side of a realtime session may say anything.'),
    KeepAliveInterval: seconds(
      15,
      'A stream that is silent for this long, also before its upstream begins, gets a comment line, so that proxies keep it open.',
      'never',
    ),
    RequestSizeLimit: {
      kind: 'integer',
      default: String(32 * 1024 * 1024),
      min: 1024,
      max: 1024 * 1024 * 1024,
      unit: 'bytes',
      writer: 'admin',
      description: 'Largest body of a relayed request.',
    },
  }),
} as const satisfies Record<string, OptionDefinition>

export type OptionKey = keyof typeof optionDefinitions

/** True for a key that exists; all other keys are refused when written. */
export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(optionDefinitions, key)
}
