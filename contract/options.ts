import { bool, days, type OptionDefinition, quota, seconds, secret, section, table, text } from './option-kinds.ts'
import { relayOptions } from './relay-options.ts'
import { storageOptions } from './storage-options.ts'

/**
 * Every option with its type, default and unit, who may write it, and what it does. The server, the console and the
 * docs use this table.
 */
export const optionDefinitions = {
  ...section('login', {
    PasswordLoginEnabled: bool(true, 'root', 'Allow people to log in with a password. Root always can.'),
    PasswordRegisterEnabled: bool(true, 'root', 'Allow people to register with a password.'),
    RegisterEnabled: bool(
      true,
      'root',
      'Allow new accounts to be created by registration or by a first external login.',
    ),
    EmailVerificationEnabled: bool(false, 'root', 'Require a code sent by email for registration.'),
    EmailDomainRestrictionEnabled: bool(false, 'root', 'Allow registration only with addresses of the listed domains.'),
    EmailDomainWhitelist: {
      kind: 'list',
      default: 'gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com',
      writer: 'root',
      description: 'Domains that EmailDomainRestrictionEnabled allows.',
    },
  }),
  ...section('code-hosting', {
    GitHubOAuthEnabled: bool(false, 'root', 'Allow people to log in with GitHub and to bind a GitHub account.'),
    GitHubClientId: text('root', 'Client id of the GitHub OAuth application.'),
    GitHubClientSecret: secret('Client secret of the GitHub OAuth application.'),
    GitHubOAuthBaseURL: text(
      'root',
      'Base URL of GitHub. GitHub Enterprise has a different one.',
      'https://github.com',
    ),
    GitHubApiBaseURL: text(
      'root',
      "Base URL of GitHub's API; https://<host>/api/v3 for GitHub Enterprise.",
      'https://api.github.com',
    ),
    OAuthStateOptional: bool(
      false,
      'root',
      'Accept third-party (OAuth) logins without a `state` parameter, as one-api consoles before 0.5.5 send them. Another site can then log people in to one of its own accounts, so leave this off.',
    ),
  }),
  ...section('wechat', {
    WeChatAuthEnabled: bool(false, 'root', 'Allow people to log in with WeChat and to bind a WeChat account.'),
    WeChatServerAddress: text('root', 'URL of the WeChat helper server.'),
    WeChatServerToken: secret('Access token of the WeChat helper server.'),
    WeChatAccountQRCodeImageURL: text('root', "Image URL of the official account's QR code."),
  }),
  ...section('bot-check', {
    TurnstileCheckEnabled: bool(false, 'root', 'Require the bot check for registration and for requests for emails.'),
    TurnstileSiteKey: text('root', 'Site key of the bot check.'),
    TurnstileSecretKey: secret('Secret key of the bot check.'),
    TurnstileVerifyURL: text(
      'root',
      'URL at which responses to the bot check are verified. Any service with the same API works.',
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
      description: 'Port of the mail server. 465 means TLS from the start.',
    },
    SMTPSecurity: {
      kind: 'choice',
      default: 'auto',
      choices: ['auto', 'tls', 'starttls', 'none'],
      writer: 'root',
      description:
        'auto: TLS on port 465, unencrypted to localhost, STARTTLS to any other server. Certificates are always checked. none: emails and the password are sent unencrypted, so anyone on the network can read them.',
    },
    SMTPAccount: text('root', 'Account on the mail server.'),
    SMTPFrom: text('root', 'Sender address; empty means SMTPAccount.'),
    SMTPToken: secret('Password of the mail account.'),
    MailLanguage: {
      kind: 'choice',
      default: 'en',
      choices: ['en', 'zh', 'ja'],
      writer: 'admin',
      description:
        "Language of emails if the recipient's browser requests none of the available languages, or if no browser is involved.",
    },
    StatementEmailEnabled: bool(
      false,
      'root',
      'Email users their statement of the past month in the first five days of a month (UTC), if their balance changed. Users can switch it off for themselves.',
    ),
  }),
  ...section('address', {
    ServerAddress: text(
      'root',
      'Public address of this server, used in emails and links. Whoever sets it decides where password reset links lead.',
    ),
  }),
  ...section('pages', {
    SystemName: text('admin', 'Name shown in the console and in emails.', 'Tollgate'),
    Logo: text('admin', 'URL of the logo.'),
    Footer: text('admin', 'HTML of the footer.'),
    Notice: text('admin', 'Notice to everybody, as Markdown or HTML.'),
    About: text('admin', 'About page, as Markdown or as an https URL that is shown in a frame.'),
    HomePageContent: text('admin', 'Home page, as Markdown or as an https URL that is shown in a frame.'),
    StatusPageEnabled: bool(
      false,
      'admin',
      'Show everybody, including visitors, the status page: the availability of each model family in the last 90 days.',
    ),
    PublicModelsEnabled: bool(false, 'admin', 'Show visitors the models and prices of the group `default`.'),
    PublicApiReferenceEnabled: bool(
      false,
      'admin',
      'Show visitors the API reference in the console. The document itself, `/api/openapi.json`, is always public.',
    ),
  }),
  ...section('updates', {
    UpdateFeedURL: text(
      'root',
      'URL of the record of the latest release, a JSON object with tag_name and body. It is read only when an admin asks for it. If it is empty, updates cannot be looked up.',
    ),
  }),
  ...section('general', {
    TopUpLink: text('admin', 'Where people get redemption codes.'),
    ChatLink: text('root', 'Chat page shown in the menu. Token links pass complete keys to it, so it must be trusted.'),
    QuotaPerUnit: {
      kind: 'number',
      default: '500000',
      min: 1,
      max: 1e12,
      unit: 'quota',
      writer: 'root',
      description: 'Quota units per currency unit; for display and conversion only.',
    },
    DisplayInCurrencyEnabled: bool(true, 'admin', 'Show quota as currency.'),
    DisplayTokenStatEnabled: bool(
      true,
      'admin',
      "Make the billing endpoints return the token's figures instead of the user's.",
    ),
  }),
  ...section('logs', {
    LogConsumeEnabled: bool(true, 'admin', 'Write a log row for every charged call.'),
    LogErrorsEnabled: bool(true, 'admin', 'Write a log row for every failed call.'),
    LogRetentionDays: days(
      'Log rows older than this are deleted, except those of failed calls. Usage figures are kept.',
    ),
    ErrorLogRetentionDays: days('Log rows of failed calls older than this are deleted.', 30),
    AuditRetentionDays: days('Audit events older than this are deleted.'),
  }),
  ...section('quota', {
    QuotaForNewUser: quota(0, 'root', 'Quota given to every new account.'),
    QuotaForInviter: quota(0, 'root', 'Quota given to whoever invited a new account.'),
    QuotaForInvitee: quota(0, 'root', 'Quota given to a new account that was invited.'),
    QuotaRemindThreshold: quota(1000, 'admin', 'A balance that falls below this triggers one reminder email.'),
    PreConsumedQuota: {
      kind: 'integer',
      default: '500',
      min: 0,
      max: 1_000_000,
      unit: 'tokens',
      writer: 'root',
      description:
        'Number of completion tokens that a stream holds in advance of what it has delivered. 0 means one token, so that the hold grows with each piece.',
    },
    QuotaPolicy: {
      kind: 'choice',
      default: 'strict',
      choices: ['strict', 'compat'],
      writer: 'root',
      description:
        'strict: no balance ever goes below zero. compat: as in one-api, a call that costs more than was held can overdraw the balance.',
    },
    GroupLimits: {
      kind: 'json',
      entries: 'limits',
      default: '{}',
      writer: 'root',
      description:
        'Group name → limits of its users, such as {"default":{"rpm_limit":60,"tpm_limit":100000,"concurrency_limit":5,"daily_budget":500000,"monthly_budget":5000000}}. Budgets are in quota units. Each limit applies to users who have no limit of that kind themselves. An omitted limit, or 0, means no limit.',
    },
    UserUsableGroups: {
      kind: 'json',
      entries: 'texts',
      default: '{}',
      writer: 'root',
      description:
        'Group name → description. Groups that every user can choose for a token, besides the user\'s own, such as {"fast":"Faster channels at twice the price"}. The group of a token decides which channels serve its calls and which ratio applies; limits stay those of the user.',
    },
    GroupGroupRatio: {
      kind: 'json',
      entries: 'ratios-by-group',
      default: '{}',
      writer: 'root',
      description:
        'Group of a user → group of a token → ratio, such as {"vip":{"fast":1.5}}. It replaces the GroupRatio of the token\'s group for users of that group.',
    },
    HoldWaitTime: seconds(
      5,
      'How long a call waits for quota that other open calls of the same account could give back.',
      'the call does not wait',
    ),
    QuotaLeaseShare: {
      kind: 'number',
      default: '0',
      min: 0,
      max: 50,
      writer: 'root',
      description:
        'The share of a balance, in percent, that a process may take in advance while many calls of an account arrive, so that they do not wait for PostgreSQL to hold their quota. 0 = off. If a process is killed, calls that it sent in the last few milliseconds may be free of charge. No effect on SQLite.',
    },
    ApproximateTokenEnabled: bool(
      false,
      'admin',
      'Estimate tokens as 0.38 times the number of bytes instead of counting them with the tokenizer.',
    ),
  }),
  ...section('ratios', {
    PriceSyncEnabled: bool(
      true,
      'admin',
      'Read the price lists of channels that have one on a schedule. Off: prices stay as they are until somebody changes them.',
    ),
    UnpricedModelPolicy: {
      kind: 'choice',
      default: 'refuse',
      choices: ['refuse', 'fallback'],
      writer: 'root',
      description:
        'refuse: models and tools without a price are refused. fallback: models are charged at UnpricedModelRatio, tools at UnpricedToolPrice.',
    },
    UnpricedModelRatio: {
      kind: 'number',
      default: '30',
      min: 0,
      max: 1e6,
      writer: 'root',
      description: 'Ratio of models without a price if UnpricedModelPolicy is fallback.',
    },
    UnpricedToolPrice: {
      kind: 'number',
      default: '0.05',
      min: 0,
      max: 1000,
      unit: 'currency',
      writer: 'root',
      description:
        'Price per call of a tool that the service runs and that has no price, if UnpricedModelPolicy is fallback.',
    },
    ToolPrice: table(
      '{}',
      'Tool → price per call in currency units, for tools that the service runs: web_search, file_search, code_interpreter, image_generation … Names can include a size (web_search:high), a model (web_search:gpt-5) or a channel type (web_search(14)). Overrides the built-in price of the same name.',
    ),
    ModelRatio: table(
      '{}',
      'Model name → ratio (1 = $2 per million prompt tokens). Overrides the built-in price of the same name.',
    ),
    CompletionRatio: table('{}', 'Model name → price of a completion token relative to a prompt token.'),
    GroupRatio: table(
      '{"default":1,"vip":1,"svip":1}',
      'Group name → multiplier. A group exists if it is listed here.',
    ),
    CacheRatio: table('{}', 'Model name → price of a cached prompt token relative to a prompt token.'),
    CreateCacheRatio: table(
      '{}',
      'Model name → price of a prompt token written to the cache relative to a prompt token.',
    ),
    AudioRatio: table('{}', 'Model name → price of an audio prompt token relative to a prompt token.'),
    AudioCompletionRatio: table(
      '{}',
      'Model name → price of an audio completion token relative to an audio prompt token.',
    ),
    ImageRatio: table('{}', 'Model name → price of an image prompt token relative to a prompt token.'),
    ModelPrice: table('{}', 'Model name → price per call in currency units, instead of ratios.'),
    ServiceTierRatio: table(
      '{"flex":1,"flex(1)":0.5,"scale":1,"priority":2,"fast":2,"ultrafast":6,"geo-us":1.1,"priority:gpt-5.5":2.5,"fast:gpt-5.5":2.5}',
      'Service tier, tier:model or tier(channel type) → multiplier for calls in that tier. A tier that is not listed here is refused.',
    ),
  }),
  ...section('monitoring', {
    AutomaticDisableChannelEnabled: bool(false, 'admin', 'Disable a channel whose key is refused or out of credit.'),
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
      description: 'A channel that takes longer than this in a test counts as failed. 0 means off.',
    },
    ChannelTestFrequency: {
      kind: 'integer',
      default: '0',
      min: 0,
      max: 43_200,
      unit: 'minutes',
      writer: 'admin',
      description: 'How often all channels are tested automatically. 0 means never.',
    },
    NotifyWebhookURL: secret(
      'URL that receives a JSON message (title, text, content) when something happens that root should know about, such as a channel being disabled.',
    ),
    MessagePusherAddress: text('root', 'URL of a Message Pusher server that receives the same messages.'),
    MessagePusherToken: secret('Token of the Message Pusher server.'),
  }),
  ...relayOptions,
  ...storageOptions,
} as const satisfies Record<string, OptionDefinition>

export type OptionKey = keyof typeof optionDefinitions

/** True if the key is that of an option. Writing any other key is refused. */
export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(optionDefinitions, key)
}
