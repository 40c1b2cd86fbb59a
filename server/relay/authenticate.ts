import ipaddr from 'ipaddr.js'
import type { Limits } from '../../contract/limits.ts'
import { roles } from '../../contract/roles.ts'
import { channelStatus, tokenStatus, userStatus } from '../../contract/statuses.ts'
import { type CallLimits, userLimits } from '../billing/limits.ts'
import { GatewayError } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'
import type { CallerRow } from '../store/callers.ts'
import type { Caller } from './caller.ts'
import type { Channel, RoutingTable } from './routing-table.ts'
import type { TokenCache } from './token-cache.ts'

export interface AuthenticateDeps {
  tokens: TokenCache
  routing(): RoutingTable
  settings(): Pick<Settings, 'GroupLimits'>
  nowMs(): number
  /** Called for a token found to be past its time, so that lists show it. */
  expired(tokenId: number): void
}

/**
 * `Authorization: Bearer sk-…` → the caller, checked in one-api's order: known, exhausted, expired, enabled, expiry,
 * subnet, owner, chosen channel. The quota itself is checked where it is taken. A database failure is 503, so that
 * clients do not throw good keys away.
 */
export async function authenticate(
  deps: AuthenticateDeps,
  authorization: string | null,
  address: () => string,
): Promise<Caller> {
  const presented = (authorization ?? '')
    .replace(/^Bearer\s+/i, '')
    .trim()
    .replace(/^sk-/, '')
  if (presented === '')
    throw new GatewayError('invalid_token', 'no token was given: send it as "Authorization: Bearer sk-…"')
  const { row, channelText } = await find(deps.tokens, presented)
  checkToken(deps, row)
  checkSubnet(row, address)
  if (row.userStatus !== userStatus.enabled) throw new GatewayError('user_banned', 'the owner of this token is banned')
  return {
    ...row,
    allowedModels: row.models ? new Set(row.models.split(',').map((model) => model.trim())) : undefined,
    limits: limitsInForce(row, deps.settings().GroupLimits.get(row.group)),
    chosenChannel: channelText === undefined ? undefined : chosenChannel(deps.routing(), row, channelText),
  }
}

function limitsInForce({ tokenLimits: token, userLimits: own }: CallerRow, group?: Limits): CallLimits | undefined {
  const user = userLimits(own, group)
  return token || user ? { token, user, minutes: undefined } : undefined
}

/** A key may contain dashes itself, so the whole is looked up before what follows the first dash is taken for a channel. */
async function find(
  tokens: TokenCache,
  presented: string,
): Promise<{ row: CallerRow; channelText: string | undefined }> {
  try {
    const whole = await tokens.find(presented)
    if (whole) return { row: whole, channelText: undefined }
    const dash = presented.indexOf('-')
    const row = dash > 0 ? await tokens.find(presented.slice(0, dash)) : undefined
    if (row) return { row, channelText: presented.slice(dash + 1) }
  } catch (error) {
    throw new GatewayError('database_unavailable', 'the token cannot be checked now, try again', { cause: error })
  }
  throw new GatewayError('invalid_token', 'invalid token')
}

function checkToken(deps: AuthenticateDeps, row: CallerRow): void {
  const name = `token ${row.tokenName} (#${row.tokenId})`
  if (row.tokenStatus === tokenStatus.exhausted)
    throw new GatewayError('token_exhausted', `the quota of ${name} is exhausted`)
  if (row.tokenStatus === tokenStatus.expired) throw new GatewayError('token_expired', `${name} has expired`)
  if (row.tokenStatus !== tokenStatus.enabled) throw new GatewayError('token_unavailable', `${name} is disabled`)
  if (row.expiredTime !== -1 && row.expiredTime * 1000 < deps.nowMs()) {
    deps.expired(row.tokenId)
    throw new GatewayError('token_expired', `${name} has expired`)
  }
}

function checkSubnet(row: CallerRow, addressOf: () => string): void {
  if (!row.subnet) return
  const address = addressOf()
  const inside = row.subnet.split(',').some((range) => contains(range.trim(), address))
  if (!inside)
    throw new GatewayError('ip_not_allowed', `this token may not be used from ${address || 'an unknown address'}`)
}

function contains(range: string, address: string): boolean {
  try {
    const parsed = ipaddr.process(address)
    const [base, bits] = ipaddr.parseCIDR(range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`)
    return parsed.kind() === base.kind() && parsed.match(base, bits)
  } catch {
    return false
  }
}

function chosenChannel(routing: RoutingTable, row: CallerRow, text: string): Channel {
  if (row.role < roles.admin) throw new GatewayError('channel_choice_not_allowed', 'only admins may choose a channel')
  const channel = /^\d{1,15}$/.test(text) ? routing.channel(Number(text)) : undefined
  if (!channel) throw new GatewayError('invalid_channel_id', 'invalid channel id')
  if (channel.status !== channelStatus.enabled)
    throw new GatewayError('channel_disabled', 'the chosen channel is disabled')
  return channel
}
