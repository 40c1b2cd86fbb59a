import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { FetchJson, Provider, Upstream } from '../provider.ts'
import { joinPath } from './index.ts'

type Balance = NonNullable<Provider['balance']>

const dayMs = 86_400_000
/** The number of days for which OpenAI showed the usage of trial accounts. */
const trialDays = 100

const bearer = (upstream: Upstream) => ({ authorization: `Bearer ${upstream.key}` })

function amount(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw new GatewayError('bad_response_body', "the upstream's response contains no balance")
}

/** The balance from OpenAI's dashboard endpoints: the limit minus the usage, in US dollars. */
export const dashboardBalance: Balance = async (upstream, fetchJson, nowMs) => {
  const call = (path: string) => fetchJson(joinPath(upstream.baseUrl, path), bearer(upstream))
  const subscription = await call('/v1/dashboard/billing/subscription')
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const from =
    subscription['has_payment_method'] === false ? day(nowMs - trialDays * dayMs) : `${day(nowMs).slice(0, 7)}-01`
  const usage = await call(`/v1/dashboard/billing/usage?start_date=${from}&end_date=${day(nowMs)}`)
  return amount(subscription['hard_limit_usd']) - amount(usage['total_usage']) / 100
}

/**
 * Reads the balance from OpenAI's old endpoint for credits, which some services still have. The services differ in the
 * field that contains the balance.
 */
export function creditGrants(field: 'total_available' | 'total_remaining'): Balance {
  return async (upstream, fetchJson) => {
    const grants = await fetchJson(`${upstream.baseUrl}/dashboard/billing/credit_grants`, bearer(upstream))
    return amount(grants[field])
  }
}

/** OpenAI-SB requires the key in the URL (its API page, "user/status"). */
export const openaiSbBalance: Balance = async (upstream, fetchJson) => {
  const address = `${upstream.baseUrl}/sb-api/user/status?api_key=${encodeURIComponent(upstream.key)}`
  return dataOf(await fetchJson(address, {}), 'credit')
}

/** The balance at AI Proxy. The service reports it at a separate host, unless the admin set a base URL. */
export const aiProxyBalance: Balance = async (upstream, fetchJson) => {
  const base = upstream.baseUrl.replace('https://api.aiproxy.io', 'https://aiproxy.io')
  return dataOf(await fetchJson(`${base}/api/report/getUserOverview`, { 'api-key': upstream.key }), 'totalPoints')
}

/** The balance at OpenRouter: purchased credits minus used credits (OpenRouter API reference, "Get credits"). */
export const openRouterBalance: Balance = async (upstream, fetchJson) => {
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/credits'), bearer(upstream))
  const data = isObject(answer['data']) ? answer['data'] : answer
  return amount(data['total_credits']) - amount(data['total_usage'])
}

function dataOf(answer: Awaited<ReturnType<FetchJson>>, field: string): number {
  return amount(isObject(answer['data']) ? answer['data'][field] : undefined)
}

/**
 * DeepSeek reports a balance per currency (DeepSeek API reference, "Get user balance"). Yuan is preferred, as in
 * one-api.
 */
export const deepSeekBalance: Balance = async (upstream, fetchJson) => {
  const answer = await fetchJson(`${upstream.baseUrl.replace(/\/v1$/, '')}/user/balance`, bearer(upstream))
  const list = Array.isArray(answer['balance_infos']) ? (answer['balance_infos'] as unknown[]).filter(isObject) : []
  const entry = list.find((each) => each['currency'] === 'CNY') ?? list[0]
  return amount(entry?.['total_balance'])
}

/** SiliconFlow reports in the body whether the call succeeded (SiliconFlow API reference, "Get user info"). */
export const siliconFlowBalance: Balance = async (upstream, fetchJson) => {
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/user/info'), bearer(upstream))
  if (answer['code'] !== 20_000) {
    const reason = typeof answer['message'] === 'string' ? answer['message'] : 'no reason given'
    throw new GatewayError('bad_response_body', `the upstream did not return its balance: ${reason}`)
  }
  return dataOf(answer, 'totalBalance')
}

/** The balance at Moonshot (Kimi API reference, "Check balance"). */
export const moonshotBalance: Balance = async (upstream, fetchJson) =>
  dataOf(await fetchJson(joinPath(upstream.baseUrl, '/v1/users/me/balance'), bearer(upstream)), 'available_balance')
