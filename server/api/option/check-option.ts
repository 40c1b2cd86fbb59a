import type { OptionKey } from '../../../contract/options.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { isMetadataHost } from '../../lib/metadata-address.ts'

/** A switch that may be turned on only when what it works with is set. */
const needs: Partial<Record<OptionKey, { key: OptionKey; message: string }>> = {
  GitHubOAuthEnabled: { key: 'GitHubClientId', message: 'Please set GitHubClientId before turning on this login.' },
  EmailDomainRestrictionEnabled: {
    key: 'EmailDomainWhitelist',
    message: 'Please add at least one domain before turning on the restriction.',
  },
  WeChatAuthEnabled: {
    key: 'WeChatServerAddress',
    message: 'Please set WeChatServerAddress before turning on this login.',
  },
  TurnstileCheckEnabled: {
    key: 'TurnstileSiteKey',
    message: 'Please set TurnstileSiteKey before turning on the bot check.',
  },
}

const links: readonly OptionKey[] = ['ServerAddress', 'WeChatAccountQRCodeImageURL', 'Logo', 'TopUpLink', 'ChatLink']

/** Called by this server itself. They may stand in a private network; no cloud's metadata service may stand there. */
const calledAddresses: readonly OptionKey[] = [
  'WeChatServerAddress',
  'GitHubOAuthBaseURL',
  'GitHubApiBaseURL',
  'TurnstileVerifyURL',
  'NotifyWebhookURL',
  'UpdateFeedURL',
  'MessagePusherAddress',
]

/** Refuses values that only make sense together with others, and addresses that a browser would run as a script. */
export function checkOption(key: OptionKey, value: string, current: (key: OptionKey) => string): void {
  const need = needs[key]
  if (need && value === 'true' && current(need.key).replaceAll(',', '').trim() === '')
    throw new ApiFailure(need.message)
  if (links.includes(key) && value !== '' && !isSafeLink(value)) {
    throw new ApiFailure(`${key} must be an address that begins with http:// or https://.`)
  }
  if (key === 'SMTPServer' && isMetadataHost(value.trim())) {
    throw new ApiFailure('SMTPServer must not be the metadata service of a cloud.')
  }
  if (calledAddresses.includes(key) && value !== '' && !isCallable(value)) {
    throw new ApiFailure(`${key} must be an address that begins with http:// or https://, and no metadata service.`)
  }
}

function isCallable(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value) && !isMetadataHost(new URL(value).hostname)
}

function isSafeLink(value: string): boolean {
  if (/^\/(?!\/)/.test(value) || /^data:image\/(png|jpeg|gif|webp);/.test(value)) return true
  return /^https?:\/\//i.test(value) && URL.canParse(value)
}
