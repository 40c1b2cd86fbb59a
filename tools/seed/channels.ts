import { channelStatus } from '../../contract/statuses.ts'
import { randomBase62 } from '../../server/lib/secrets/ids.ts'
import type { Secrets } from '../../server/lib/secrets/secrets.ts'
import { providers } from '../../server/providers/registry.ts'
import { addChannelEvent } from '../../server/store/channels/channel-health.ts'
import { addChannelTest } from '../../server/store/channels/channel-tests.ts'
import { addChannel, setChannelStatus } from '../../server/store/channels/channels.ts'
import type { Store, Trx } from '../../server/store/store.ts'
import type { Random } from '../../test/fuzz/random.ts'
import { groups } from './people.ts'

/** The example models with their price in quota units per thousand tokens. The most used models come first. */
export const models: readonly (readonly [name: string, price: number])[] = [
  ['gpt-4o-mini', 300],
  ['gpt-4o', 5000],
  ['claude-sonnet-4-5', 6000],
  ['deepseek-chat', 250],
  ['gemini-2.5-flash', 700],
  ['gpt-4.1', 4000],
  ['claude-haiku-4-5', 2000],
  ['qwen-plus', 400],
  ['gemini-2.5-pro', 5000],
  ['o3', 5000],
  ['deepseek-reasoner', 550],
  ['mistral-large-latest', 3000],
  ['grok-4', 6000],
  ['glm-4.6', 600],
  ['kimi-k2', 800],
  ['claude-opus-4-1', 25_000],
  ['text-embedding-3-small', 20],
]

/**
 * The behaviour of a channel in the example. Most channels respond, and one fails half of its calls. `disabled` means
 * that the gateway disabled the channel, and `off` that a person did.
 */
export type Conduct = 'sound' | 'failing' | 'disabled' | 'off'

export interface SeededChannel {
  readonly id: number
  readonly conduct: Conduct
  readonly models: readonly string[]
}

interface ChannelsPlan {
  readonly secrets: Secrets
  readonly random: Random
  readonly nowSeconds: number
  readonly channels: number
  /** All channels work. */
  readonly healthy: boolean
}

const refusal = 'Incorrect API key provided: sk-…. You can find your API key in the dashboard.'

/**
 * Adds the channels. Their URLs lead to a port of this machine on which nothing listens, so that the example never
 * calls a provider.
 */
export async function addChannels(store: Store, plan: ChannelsPlan): Promise<SeededChannel[]> {
  const { random } = plan
  const channels: SeededChannel[] = []
  await store.write(async (trx) => {
    for (let index = 0; index < plan.channels; index++) {
      const { meta } = providers[index % Math.min(providers.length, 37)] as (typeof providers)[number]
      const conduct = plan.healthy ? 'sound' : conductOf(index)
      // The first channels serve every model, so that each call in the example has a channel.
      const own =
        index < 4 ? models.map(([name]) => name) : models.map(([name]) => name).filter(() => random.chance(0.3))
      const id = await addChannel(trx, {
        type: meta.type,
        key: plan.secrets.seal(`sk-${randomBase62(32)}`, 'channel'),
        name: `${meta.name}-${index + 1}`,
        base_url: 'http://127.0.0.1:9',
        models: (own.length > 0 ? own : ['gpt-4o-mini']).join(','),
        group: index < 4 ? groups.join(',') : random.pick(groups),
        priority: random.int(3) * 10,
        weight: random.int(4),
        created_time: plan.nowSeconds - 90 * 86_400,
      })
      await addState(trx, id, conduct, plan)
      channels.push({ id, conduct, models: own })
    }
  })
  return channels
}

function conductOf(index: number): Conduct {
  if (index === 2) return 'failing'
  if (index === 5 || index === 17) return 'disabled'
  return index % 13 === 12 ? 'off' : 'sound'
}

async function addState(trx: Trx, id: number, conduct: Conduct, plan: ChannelsPlan): Promise<void> {
  const { random, nowSeconds, healthy } = plan
  const balance = random.int(500) + (healthy ? 500 : 0)
  const response_time = 200 + random.int(4000)
  const figures = {
    balance,
    balance_updated_time: nowSeconds - random.int(86_400),
    response_time,
    test_time: nowSeconds - 7200,
  }
  await trx.updateTable('channels').set(figures).where('id', '=', id).execute()
  const ok = conduct === 'sound'
  const message = ok ? '' : refusal
  await addChannelTest(trx, id, {
    created_at: nowSeconds - 7200,
    model: 'gpt-4o-mini',
    ok,
    elapsed_time: response_time,
    message,
  })
  if (conduct === 'off') await setChannelStatus(trx, id, channelStatus.disabled)
  if (conduct !== 'disabled') return
  await setChannelStatus(trx, id, channelStatus.autoDisabled)
  const content = `channel ${id} disabled`
  await addChannelEvent(trx, {
    at: nowSeconds - 5400,
    channelId: id,
    action: 'channel.auto-disable',
    content,
    reason: refusal,
  })
}
