import type { GatewayProcess } from '../helpers/gateway-process.ts'

/**
 * One prompt token costs 1 unit and one completion token costs 2, so that every price in these tests is easy to check.
 */
export const model = 'gpt-4o'
/** Counts as 8 tokens: 3 for the message, 3 for the answer, 1 for the role and 1 for the text. */
export const messages = [{ role: 'user', content: 'hi' }]
export const promptTokens = 8
/** Four words of one token each. */
export const answer = 'a a a a'
export const completionTokens = 4
/** The price of one call in units: 8 × 1 + 4 × 2. */
export const pricePerCall = 16

/** Sets the prices, adds a channel to the upstream, and gives root plenty of quota. */
export async function installFor(gateway: GatewayProcess, upstreamUrl: string): Promise<void> {
  await gateway.api('PUT', '/api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1 }) })
  await gateway.api('PUT', '/api/option/', { key: 'CompletionRatio', value: JSON.stringify({ [model]: 2 }) })
  await gateway.api('POST', '/api/channel/', {
    type: 1,
    name: 'upstream',
    key: 'upstream-key',
    base_url: upstreamUrl,
    models: model,
    group: 'default',
  })
  await gateway.api('PUT', '/api/user/', { id: 1, username: 'root', quota: 1_000_000_000 })
}

/**
 * Lets the processes lease quota, which they do only on PostgreSQL. They notice the new option shortly after it is set.
 */
export async function allowLeases(gateway: GatewayProcess): Promise<void> {
  await gateway.api('PUT', '/api/option/', { key: 'QuotaLeaseShare', value: '20' })
}

/** Creates a token of root with this quota (unlimited if omitted) and other fields. Returns the key to call with. */
export async function newToken(
  gateway: GatewayProcess,
  quota?: number,
  fields: object = {},
): Promise<{ id: number; key: string }> {
  const token = await gateway.api<{ id: number; key: string }>('POST', '/api/token/', {
    name: 'test',
    expired_time: -1,
    remain_quota: quota ?? 0,
    unlimited_quota: quota === undefined,
    ...fields,
  })
  return { id: token.id, key: `sk-${token.key.replace(/^sk-/, '')}` }
}
