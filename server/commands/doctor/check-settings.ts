import { channelStatus } from '../../../contract/statuses.ts'
import { modelPrices } from '../../api/option/model-prices.ts'
import { messageOf } from '../../lib/message-of.ts'
import { smtpServer } from '../../mails/mailer.ts'
import { checkMailServer } from '../../outbound/smtp.ts'
import type { Settings } from '../../settings/settings.ts'
import { listChannels } from '../../store/channels/channels.ts'
import { servedModels } from '../../store/channels/served-models.ts'
import { type Check, type Finding, fail, ok, someOf, warn } from './check.ts'

export const checkMail: Check = {
  name: 'mail',
  async run({ settings }) {
    const { SMTPServer, SMTPPort, SMTPFrom, SMTPAccount, EmailVerificationEnabled, StatementEmailEnabled } = settings
    if (SMTPServer === '') {
      const needs = EmailVerificationEnabled || StatementEmailEnabled
      return needs
        ? [fail('Emails are needed, but there is no mail server.', 'Set SMTPServer, SMTPFrom and SMTPToken.')]
        : [ok('No mail server is set, so nobody can reset a password by email.')]
    }
    if ((SMTPFrom || SMTPAccount) === '') return [fail('Emails have no sender.', 'Set SMTPFrom.')]
    try {
      await checkMailServer(smtpServer(settings, settings.SystemName))
      return [ok(`${SMTPServer}:${SMTPPort} accepts the login. Nothing was sent.`)]
    } catch (error) {
      const why = messageOf(error)
      return [
        fail(
          `${SMTPServer}:${SMTPPort} does not work: ${why}.`,
          'Check SMTPServer, SMTPPort, SMTPSecurity, SMTPAccount and SMTPToken.',
        ),
      ]
    }
  },
}

export const checkChannels: Check = {
  name: 'channels',
  async run({ store }) {
    const page = { offset: 0, limit: 1_000_000, sort: 'id', descending: false } as const
    const { rows } = await listChannels(store.read, page, { type: 0, status: 0, group: '' })
    const enabled = rows.filter(({ status }) => status === channelStatus.enabled)
    if (enabled.length === 0)
      return [fail('No channel is enabled, so no call can be served.', 'Add a channel in the console, or enable one.')]
    const findings: Finding[] = [ok(`${enabled.length} of ${rows.length} channels are enabled.`)]
    const names = (of: typeof rows) => someOf(of.map(({ name, id }) => name || String(id)))
    const failing = enabled.filter(({ test_error }) => test_error !== '')
    const untested = enabled.filter(({ test_time }) => test_time === 0)
    const disabled = rows.filter(({ status }) => status === channelStatus.autoDisabled)
    const paused = enabled.filter(({ keys_dead }) => keys_dead > 0)
    if (failing.length > 0)
      findings.push(warn(`The last test of ${names(failing)} failed.`, 'Open the channel in the console to see why.'))
    if (disabled.length > 0)
      findings.push(
        warn(`The gateway disabled ${names(disabled)}.`, 'Check the key and the credit, then enable the channel.'),
      )
    if (paused.length > 0)
      findings.push(warn(`Keys of ${names(paused)} are paused.`, 'Replace the keys, or revive them.'))
    if (untested.length > 0)
      findings.push(
        warn(`${names(untested)} was never tested.`, 'Test all channels in the console, or set ChannelTestFrequency.'),
      )
    return findings
  },
}

export const checkPrices: Check = {
  name: 'prices',
  async run({ store, settings }) {
    const prices = modelPrices(settings, await servedModels(store.read)).filter(({ channels }) => channels > 0)
    const without = prices.filter(({ source }) => source === 'none').map(({ model }) => model)
    if (without.length === 0) return [ok(`All ${prices.length} models of the channels have a price.`)]
    const fate =
      settings.UnpricedModelPolicy === 'refuse' ? 'are refused' : `cost ${settings.UnpricedModelRatio} × a unit`
    return [
      warn(
        `${without.length} of ${prices.length} models have no price and ${fate}: ${someOf(without)}.`,
        'Set ModelRatio or ModelPrice for them, or remove them from the channels.',
      ),
    ]
  },
}

/** Settings that are risky in a way that is not obvious from the descriptions of the individual options. */
const risks: readonly [is: (settings: Settings) => boolean, text: string, advice: string][] = [
  [
    (now) => now.OAuthStateOptional,
    'OAuthStateOptional is on, so another site can log people in to an account of its own.',
    'Turn it off.',
  ],
  [(now) => now.QuotaPolicy === 'compat', 'QuotaPolicy is compat, so balances can go below zero.', 'Set it to strict.'],
  [
    (now) => now.UnpricedModelPolicy === 'fallback',
    'Models without a price are served at UnpricedModelRatio, which may be less than they cost.',
    'Set UnpricedModelPolicy to refuse.',
  ],
  [
    (now) => now.SMTPServer !== '' && now.SMTPSecurity === 'none',
    'Emails and the password of the mail account are sent unencrypted.',
    'Set SMTPSecurity to auto.',
  ],
  [
    (now) =>
      now.RegisterEnabled &&
      now.PasswordRegisterEnabled &&
      now.QuotaForNewUser > 0 &&
      !now.EmailVerificationEnabled &&
      !now.TurnstileCheckEnabled,
    'Anybody can register any number of accounts, and each gets free quota.',
    'Require a verified email or the bot check, or set QuotaForNewUser to 0.',
  ],
  [
    (now) => /^http:/i.test(now.ServerAddress) && !isLocal(now.ServerAddress),
    'ServerAddress begins with http://, so passwords and keys cross the network unencrypted.',
    'Serve the gateway with TLS and set the https:// address.',
  ],
]

function isLocal(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : ''
  return ['localhost', '127.0.0.1', '[::1]'].includes(host)
}

export const checkOptions: Check = {
  name: 'options',
  async run({ settings }) {
    const found = risks.filter(([is]) => is(settings)).map(([, text, advice]) => warn(text, advice))
    return found.length > 0 ? found : [ok('No option has a risky value.')]
  },
}
