import type * as z from 'zod/mini'
import { type DestinationKindName, destinationKind } from '../../../contract/alert-destinations.ts'
import type { createAlertDestinationBody, updateAlertDestinationBody } from '../../../contract/api/alert.ts'
import { isMailAddress } from '../../../contract/api/fields.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { randomBase62 } from '../../lib/secrets/ids.ts'
import type { AlertAddress } from '../../outbound/alert-services.ts'

const secretLength = 32

type NewDestination = z.output<typeof createAlertDestinationBody>
type ChangedDestination = z.output<typeof updateAlertDestinationBody>

/** The stored form of an alert destination's address: all parts of the address, and the text that may be shown. */
export interface CheckedAddress {
  address: AlertAddress
  hint: string
}

/** The address of a new destination. For a webhook without a secret, a secret is generated. */
export function newAddress(body: NewDestination, isOperators: boolean): CheckedAddress & { generated: string } {
  const { kind, url, token, to } = body
  const generated = kind === 'webhook' && body.secret === '' ? randomBase62(secretLength) : ''
  return { ...checked(kind, { url, token, to, secret: body.secret || generated }, isOperators), generated }
}

/** The address after an update. Empty fields of the update leave the stored parts unchanged. */
export function changedAddress(
  kind: DestinationKindName,
  before: AlertAddress,
  { url, token, secret, to }: ChangedDestination,
  isOperators: boolean,
): CheckedAddress {
  const isMoved = url !== undefined && url !== '' && url !== before.url
  // If the URL changes, the token must be entered again. Otherwise, somebody could have the stored token sent to their
  // own server. The same applies to a topic of ntfy, which works like a token.
  if (isMoved && before.token !== '' && !token) throw new ApiFailure('token must be entered again with another URL.')
  if (isMoved && kind === 'ntfy' && !to) throw new ApiFailure('to must be entered again with another URL.')
  const address = {
    url: url || before.url,
    token: token || before.token,
    secret: secret || before.secret,
    to: to || before.to,
  }
  return checked(kind, address, isOperators)
}

function checked(kind: DestinationKindName, address: AlertAddress, isOperators: boolean): CheckedAddress {
  const needs = destinationKind(kind)
  const { url, token, secret, to } = address
  const refuse = (field: keyof AlertAddress, why: string) => {
    throw new ApiFailure(`${field} ${why}.`)
  }
  if (needs.url === 'none' && url !== '') refuse('url', 'is not used by this service')
  if (needs.url === 'required' && url === '') refuse('url', 'is missing')
  if (url !== '') checkUrl(url)
  if (needs.token === 'none' && token !== '') refuse('token', 'is not used by this service')
  if (needs.token === 'required' && token === '') refuse('token', 'is missing')
  if (/[^\x21-\x7e]/.test(token)) refuse('token', 'may contain only visible ASCII characters')
  if (!needs.secret && secret !== '') refuse('secret', 'is not used by this service')
  if (kind === 'mail') {
    if (isOperators && !isMailAddress(to)) refuse('to', 'must be an email address')
    if (!isOperators && to !== '') refuse('to', "must be empty: emails are sent to the account's own address")
    return { address, hint: to }
  }
  if (needs.to !== (to !== '')) refuse('to', needs.to ? 'is missing' : 'is not used by this service')
  if (kind === 'ntfy' && !/^[\w-]{1,64}$/.test(to)) refuse('to', 'must be a topic: letters, digits, - and _')
  if (kind === 'telegram' && !/^(?:-?\d{1,20}|@\w{1,64})$/.test(to)) refuse('to', 'must be a chat id or @channel')
  // Only the host is shown, because a topic of ntfy works like a password and the paths of most URLs contain secrets.
  const host = new URL(url || (needs.server ?? '')).host
  return { address, hint: kind === 'telegram' ? to : host }
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || /[\s\p{Cc}]/u.test(text))
    throw new ApiFailure('url must be a URL that begins with http:// or https://.')
  if (url.username !== '' || url.password !== '') throw new ApiFailure('url must not contain a name or a password.')
}
