import type { Limits } from '../../../contract/limits.ts'
import { roles } from '../../../contract/roles.ts'
import { channelStatus, tokenStatus, userStatus } from '../../../contract/statuses.ts'
import { type CallLimits, userLimits } from '../../billing/limits.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { GatewayError } from '../../errors.ts'
import { isWithin, parseAddress, parseNetwork } from '../../lib/network/ip-network.ts'
import type { Settings } from '../../settings/settings.ts'
import type { CallerRow } from '../../store/accounts/callers.ts'
import { type Caller, tokenExhausted } from '../call/caller.ts'
import type { Channel, RoutingTable } from '../routing/routing-table.ts'
import type { TokenCache } from './token-cache.ts'

export interface AuthenticateDeps {
  tokens: TokenCache
  routing(): RoutingTable
  settings(): Pick<Settings, 'GroupLimits' | 'UserUsableGroups'>
  nowMs(): number
  /** Called when a token turns out to have expired, so that token lists show it as expired. */
  expired(tokenId: number): void
}

/**
 * Identifies the caller of a request by its token (`Authorization: Bearer sk-…`). The checks are in the same order as
 * in one-api: known key, status (exhausted, expired, enabled), expiry time, subnet, owner, chosen channel. Returns
 * synchronously if the token is in memory. The quota is checked later, when it is reserved. If the database fails, the
 * response is a 503, so that clients do not discard valid keys.
 */
export function authenticate(
  deps: AuthenticateDeps,
  authorization: string | null,
  address: () => string,
): Caller | Promise<Caller> {
  const presented = keyOf(authorization ?? '')
  if (presented === '')
    throw new GatewayError('invalid_token', 'no token provided: send it as "Authorization: Bearer sk-…"')
  const known = deps.tokens.known(presented)
  return known
    ? checked(deps, known, undefined, address)
    : find(deps.tokens, presented).then(({ row, channelText }) => checked(deps, row, channelText, address))
}

function keyOf(authorization: string): string {
  if (authorization.startsWith('Bearer sk-')) return authorization.slice('Bearer sk-'.length).trimEnd()
  return authorization
    .replace(/^Bearer\s+/i, '')
    .trim()
    .replace(/^sk-/, '')
}

function checked(
  deps: AuthenticateDeps,
  row: CallerRow,
  channelText: string | undefined,
  address: () => string,
): Caller {
  try {
    return allowed(deps, row, channelText, address)
  } catch (error) {
    if (error instanceof GatewayError) refused.set(error, row)
    throw error
  }
}

/** Maps an error to the caller whose token was refused with it. */
const refused = new WeakMap<GatewayError, CallerRow>()

/** The caller that `authenticate` identified but refused with this error. Undefined if it identified no caller. */
export function refusedCaller(error: unknown): CallerRow | undefined {
  return error instanceof GatewayError ? refused.get(error) : undefined
}

function allowed(
  deps: AuthenticateDeps,
  row: CallerRow,
  channelText: string | undefined,
  address: () => string,
): Caller {
  checkToken(deps, row)
  checkSubnet(row, address)
  const caller = callerAfter(deps, row)
  return channelText === undefined
    ? caller
    : { ...caller, chosenChannel: chosenChannel(deps.routing(), row, channelText) }
}

/**
 * The caller that a token's row describes. Throws the same errors as `authenticate`, but does not check the request's
 * address.
 */
export function callerOfRow(deps: Omit<AuthenticateDeps, 'tokens'>, row: CallerRow): Caller {
  checkToken(deps, row)
  return callerAfter(deps, row)
}

function callerAfter(deps: Omit<AuthenticateDeps, 'tokens'>, row: CallerRow): Caller {
  if (row.userStatus !== userStatus.enabled) throw new GatewayError('user_banned', 'the owner of this token is banned')
  const caller = callerOf(row)
  checkGroup(deps, row)
  const limits = limitsInForce(row, deps.settings().GroupLimits.get(row.userGroup))
  // Each call gets its own limits object, because the state of the limits is written into it.
  return limits === undefined ? caller : { ...caller, limits }
}

/** A token may have another group than its owner only as long as the owner may choose that group. */
function checkGroup({ settings }: Pick<AuthenticateDeps, 'settings'>, { group, userGroup }: CallerRow): void {
  if (group === userGroup || settings().UserUsableGroups.has(group)) return
  throw new GatewayError(
    'group_not_allowed',
    `this token uses the group ${group}, which its owner may not use any more: choose another group for the token`,
  )
}

/** Caches the caller that was built from each row, as long as the row is in memory. */
const callers = new WeakMap<CallerRow, Caller>()

function callerOf(row: CallerRow): Caller {
  const known = callers.get(row)
  if (known) return known
  const allowedModels = row.models ? new Set(row.models.split(',').map((model) => model.trim())) : undefined
  const caller = { ...row, allowedModels, limits: undefined, chosenChannel: undefined }
  callers.set(row, caller)
  return caller
}

function limitsInForce({ tokenLimits: token, userLimits: own }: CallerRow, group?: Limits): CallLimits | undefined {
  const user = userLimits(own, group)
  return token || user ? { token, user, minutes: undefined } : undefined
}

/**
 * Looks up the text that a caller presented, which is a key or a key with a channel number appended. A key may contain
 * dashes, so the whole text is looked up first. If it is not a key, the part after the first dash and then the number
 * after the last `-` or `#` are tried as the channel.
 */
async function find(
  tokens: TokenCache,
  presented: string,
): Promise<{ row: CallerRow; channelText: string | undefined }> {
  try {
    const whole = await tokens.find(presented)
    if (whole) return { row: whole, channelText: undefined }
    for (const dash of channelMarks(presented)) {
      const row = await tokens.find(presented.slice(0, dash))
      if (row) return { row, channelText: presented.slice(dash + 1) }
    }
  } catch (error) {
    throw new GatewayError('database_unavailable', 'the token cannot be checked now, try again', { cause: error })
  }
  throw new GatewayError('invalid_token', 'invalid token')
}

/**
 * The offsets at which a channel number may begin. Keys of one-hub (a fork of one-api) contain dashes, so one-hub puts
 * a `#` before the number.
 */
function channelMarks(presented: string): number[] {
  const last = /[-#]\d{1,15}$/.exec(presented)?.index ?? -1
  const first = presented.indexOf('-')
  return [...new Set([first, last])].filter((at) => at > 0)
}

function checkToken(deps: Pick<AuthenticateDeps, 'nowMs' | 'expired'>, row: CallerRow): void {
  const isPast = row.expiredTime !== -1 && row.expiredTime * 1000 < deps.nowMs()
  if (row.tokenStatus === tokenStatus.enabled && !isPast) return
  const name = `token ${row.tokenName} (#${row.tokenId})`
  if (row.tokenStatus === tokenStatus.exhausted) throw tokenExhausted(row)
  if (row.tokenStatus === tokenStatus.expired) throw new GatewayError('token_expired', `${name} has expired`)
  if (row.tokenStatus !== tokenStatus.enabled) throw new GatewayError('token_unavailable', `${name} is disabled`)
  deps.expired(row.tokenId)
  throw new GatewayError('token_expired', `${name} has expired`)
}

function checkSubnet(row: CallerRow, addressOf: () => string): void {
  if (!row.subnet) return
  const address = addressOf()
  const inside = row.subnet.split(',').some((range) => contains(range.trim(), address))
  if (!inside)
    throw new GatewayError('ip_not_allowed', `this token may not be used from ${address || 'an unknown address'}`)
}

function contains(range: string, address: string): boolean {
  const network = parseNetwork(range)
  const parsed = parseAddress(address)
  return network !== undefined && parsed !== undefined && isWithin(parsed, network)
}

function chosenChannel(routing: RoutingTable, row: CallerRow, text: string): Channel {
  if (row.role < roles.admin) throw new GatewayError('channel_choice_not_allowed', 'only admins may choose a channel')
  const channel = /^\d{1,15}$/.test(text) ? routing.channel(Number(text)) : undefined
  if (!channel) throw new GatewayError('invalid_channel_id', 'invalid channel id')
  if (channel.status !== channelStatus.enabled)
    throw new GatewayError('channel_disabled', 'the chosen channel is disabled')
  return channel
}

/**
 * The token of a request, read from the header or parameter in which clients of its dialect send it: `Authorization`
 * for OpenAI, `x-api-key` for Anthropic, `x-goog-api-key` or `?key=` for Google. A browser that opens a WebSocket sends
 * it as one of the subprotocols. A bearer token is accepted everywhere.
 */
export function credentialOf(request: Request, dialect: DialectName): string | null {
  const { headers } = request
  const bearer = headers.get('authorization')
  if (dialect === 'openai-chat' || dialect === 'openai-responses') return bearer ?? keyInProtocol(headers)
  if (dialect === 'anthropic-messages') return headers.get('x-api-key') ?? bearer
  const query = request.url.indexOf('?')
  const inAddress = query < 0 ? null : new URLSearchParams(request.url.slice(query)).get('key')
  return headers.get('x-goog-api-key') ?? inAddress ?? bearer
}

/**
 * The dialect of a client that calls an endpoint which exists in several dialects. It is recognized by the client's
 * headers or by the parameter `key`.
 */
export function readerDialect({ headers, url }: Request): 'openai-chat' | 'anthropic-messages' | 'gemini' {
  if (headers.has('anthropic-version')) return 'anthropic-messages'
  if (headers.has('authorization')) return 'openai-chat'
  if (headers.has('x-goog-api-key') || /[?&]key=/.test(url)) return 'gemini'
  return headers.has('x-api-key') ? 'anthropic-messages' : 'openai-chat'
}

/**
 * A browser cannot set headers when it opens a WebSocket, so it sends the key as a subprotocol (OpenAI, "Realtime API
 * with WebSockets").
 */
function keyInProtocol(headers: Headers): string | null {
  const key = protocolsOf(headers).find((each) => each.startsWith(keyProtocol))
  return key === undefined ? null : `Bearer ${key.slice(keyProtocol.length)}`
}

const keyProtocol = 'openai-insecure-api-key.'

/** The subprotocols that a caller offers for a WebSocket. */
export function protocolsOf(headers: Headers): string[] {
  return (headers.get('sec-websocket-protocol') ?? '').split(',').map((each) => each.trim())
}
