import { isIP } from 'node:net'
import { isMailAddress } from '../../../contract/api/fields.ts'
import { type OptionKey, optionDefinitions } from '../../../contract/options.ts'
import { shortestPassphrase } from '../../backup/backup-key.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { isLogDatabase } from '../../lib/log-sink-address.ts'
import { isMetadataHost } from '../../lib/network/metadata-address.ts'
import { isOperatorFolder } from '../../lib/operator-folder.ts'
import { baseAddresses } from './option-text.ts'

/** Options that can be turned on only if another option is set: each with that option and the error message. */
const needs: Partial<Record<OptionKey, { key: OptionKey; message: string }>> = {
  GitHubOAuthEnabled: { key: 'GitHubClientId', message: 'Set GitHubClientId before you turn on this login.' },
  EmailDomainRestrictionEnabled: {
    key: 'EmailDomainWhitelist',
    message: 'Add at least one domain before you turn on the restriction.',
  },
  WeChatAuthEnabled: {
    key: 'WeChatServerAddress',
    message: 'Set WeChatServerAddress before you turn on this login.',
  },
  TurnstileCheckEnabled: {
    key: 'TurnstileSiteKey',
    message: 'Set TurnstileSiteKey before you turn on bot protection.',
  },
}

/** The required form of options that become part of the URLs of objects in S3. */
const objectNames: Partial<Record<OptionKey, { form: RegExp; message: string }>> = {
  S3Bucket: {
    form: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    message: 'S3Bucket must have 3 to 63 lower-case letters, digits, dots and hyphens.',
  },
  S3Prefix: {
    form: /^[\w-]+(?:\/[\w-]+){0,9}$/,
    message: 'S3Prefix must consist of letters, digits, hyphens and underscores, with / between folders.',
  },
  S3Region: { form: /^[\w-]{1,64}$/, message: 'S3Region must consist of letters, digits and hyphens.' },
}

const links: readonly OptionKey[] = ['WeChatAccountQRCodeImageURL', 'Logo', 'TopUpLink', 'ChatLink']

/**
 * Options with URLs to which this server sends requests. The URLs may be in a private network, but must not be a
 * cloud's metadata service.
 */
const calledAddresses: readonly OptionKey[] = [
  'WeChatServerAddress',
  'GitHubOAuthBaseURL',
  'GitHubApiBaseURL',
  'TurnstileVerifyURL',
  'NotifyWebhookURL',
  'UpdateFeedURL',
  'MessagePusherAddress',
  'S3Endpoint',
  'LogCopyClickHouseURL',
]

/** Refuses values that are invalid in combination with other options, and URLs that a browser would run as a script. */
export function checkOption(key: OptionKey, value: string, current: (key: OptionKey) => string): void {
  const need = needs[key]
  if (need && value === 'true' && current(need.key).replaceAll(',', '').trim() === '')
    throw new ApiFailure(need.message)
  const leaning = (Object.keys(needs) as OptionKey[]).find(
    (each) => needs[each]?.key === key && value === '' && current(each) === 'true',
  )
  if (leaning) throw new ApiFailure(`Turn off ${leaning} before you clear ${key}.`)
  if (links.includes(key) && value !== '' && !isSafeLink(value)) {
    throw new ApiFailure(`${key} must be a URL that begins with http:// or https://.`)
  }
  if (baseAddresses.includes(key) && value !== '' && !isBaseAddress(value)) {
    throw new ApiFailure(
      `${key} must be a URL that begins with http:// or https://, without a username, password, query or fragment.`,
    )
  }
  const name = objectNames[key]
  if (name && value !== '' && !name.form.test(value)) throw new ApiFailure(name.message)
  if (key === 'CaptureStore' && value === 's3' && (current('S3Endpoint') === '' || current('S3Bucket') === ''))
    throw new ApiFailure('Set S3Endpoint and S3Bucket before you store recordings there.')
  if (key === 'BackupStore' && value !== 'off') checkBackups(value, current)
  if ((key === 'BackupFolder' || key === 'LogCopyFolder') && !isOperatorFolder(value))
    throw new ApiFailure(`${key} must be a name in the data folder, or an absolute path, without "..".`)
  if (key === 'LogCopyPlace') checkLogCopy(value, current)
  if (key === 'LogCopyClickHouseURL' && value === '' && current('LogCopyPlace') === 'clickhouse')
    throw new ApiFailure('Turn off LogCopyPlace before you clear LogCopyClickHouseURL.')
  if (key === 'LogCopyClickHouseDatabase' && !isLogDatabase(value))
    throw new ApiFailure('LogCopyClickHouseDatabase must consist of letters, digits and _.')
  if (key === 'BackupPassphrase' && value !== '' && value.length < shortestPassphrase)
    throw new ApiFailure(`BackupPassphrase must have at least ${shortestPassphrase} characters.`)
  if (key === 'BackupPassphrase' && value === '' && current('BackupStore') !== 'off')
    throw new ApiFailure('Turn off BackupStore before you clear BackupPassphrase.')
  if (key === 'SMTPServer') checkMailHost(value)
  if (key === 'SMTPFrom' && value !== '' && !isMailAddress(value)) {
    throw new ApiFailure('SMTPFrom must be an email address.')
  }
  if (key === 'SystemName' && [...value].length > longestName) {
    throw new ApiFailure(`SystemName may have at most ${longestName} characters.`)
  }
  if (calledAddresses.includes(key) && !isSecret(key) && hasUserInfo(value)) {
    throw new ApiFailure(
      `${key} must not contain a username or password. Everyone who can see the settings would see them.`,
    )
  }
  if (calledAddresses.includes(key) && value !== '' && !isCallable(value)) {
    throw new ApiFailure(`${key} must be a URL that begins with http:// or https:// and not a cloud metadata service.`)
  }
}

function checkBackups(value: string, current: (key: OptionKey) => string): void {
  if (current('BackupPassphrase') === '') throw new ApiFailure('Set BackupPassphrase before you turn on backups.')
  if (value === 's3' && (current('S3Endpoint') === '' || current('S3Bucket') === ''))
    throw new ApiFailure('Set S3Endpoint and S3Bucket before you store backups there.')
}

function checkLogCopy(value: string, current: (key: OptionKey) => string): void {
  if (value === 's3' && (current('S3Endpoint') === '' || current('S3Bucket') === ''))
    throw new ApiFailure('Set S3Endpoint and S3Bucket before you copy the log there.')
  if (value === 'clickhouse' && current('LogCopyClickHouseURL') === '')
    throw new ApiFailure('Set LogCopyClickHouseURL before you copy the log there.')
}

/** Maximum length of the system name, which appears in the head of every page and in the subject of every email. */
const longestName = 100

function checkMailHost(value: string): void {
  if (isMetadataHost(value)) throw new ApiFailure('SMTPServer must not be a cloud metadata service.')
  if (value !== '' && isIP(value) === 0 && !/^[\p{L}\p{N}._-]+$/u.test(value)) {
    throw new ApiFailure('SMTPServer must be a host name, such as smtp.example.com.')
  }
}

/** A URL to which a path can be appended. */
function isBaseAddress(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false
  const { username, password, search, hash } = new URL(value)
  return username + password + search + hash === '' && !/[?#]/.test(value)
}

function isCallable(value: string): boolean {
  return /^https?:\/\//i.test(value) && URL.canParse(value) && !isMetadataHost(new URL(value).hostname)
}

function isSecret(key: OptionKey): boolean {
  return 'secret' in optionDefinitions[key]
}

function hasUserInfo(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return username + password !== ''
}

function isSafeLink(value: string): boolean {
  if (/^\/(?!\/)/.test(value) || /^data:image\/(png|jpeg|gif|webp);/.test(value)) return true
  return /^https?:\/\//i.test(value) && URL.canParse(value)
}
