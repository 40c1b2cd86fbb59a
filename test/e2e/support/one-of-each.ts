import type { Console } from './console.ts'

/** Creates a channel, a token and a code, each named `one`. Each is the first of its kind and has the id 1. */
export async function oneOfEach(site: Console): Promise<void> {
  await site.api('POST', '/api/channel/', { type: 1, key: 'k', name: 'one', models: 'gpt-4o', group: 'default' })
  await site.api('POST', '/api/token/', { name: 'one', remain_quota: 1, unlimited_quota: true, expired_time: -1 })
  await site.api('POST', '/api/redemption/', { name: 'one', count: 1, quota: 100 })
}
