import { type Behaviour, type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.ts'
import { type ChannelInput, type LogRow, startTestGateway, type TestGateway } from '../../helpers/test-gateway.ts'
import { ratioOptions } from '../../sdk/support/prices.ts'
import { type Clients, clientsOf } from './callers.ts'

/** The model in every request. Channels map it to the model that they need. */
export const model = 'any-model'

/** The settings of a channel to the upstream, or to the server at `base`. */
export type Setup = Omit<ChannelInput, 'base_url' | 'models'> & { type: number; basePath?: string; base?: string }

/** One gateway in front of one scripted upstream. */
export interface Rig extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  /** Clients that call the upstream directly. */
  direct: Clients
  /** Clients of the gateway, bound to a channel with this setup. */
  through(setup: Setup): Promise<Clients>
  /** A token of the gateway, bound to a channel with this setup. */
  token(setup: Setup): Promise<string>
  /** Sets the behaviours for all requests from now on, used in order. The last one is repeated. */
  answer(...behaviours: readonly [...Behaviour[], Behaviour]): void
  lastLog(): Promise<LogRow>
  logCount(): Promise<number>
}

/**
 * Starts the gateway and the upstream. `models` get the same price as the usual model. With `retries`, the gateway
 * retries as a new installation does. Otherwise, a call ends when its first attempt fails. The gateway cannot reach any
 * host by name.
 */
export async function startMatrixRig(models: Iterable<string> = [], options: { retries?: true } = {}): Promise<Rig> {
  const gateway = await startTestGateway({ resolve: () => Promise.resolve(['169.254.169.254']), ...options })
  const upstream = await startFakeUpstream()
  for (const [key, value] of ratioOptions([model, ...models])) await gateway.setOption(key, value)
  const tokens = new Map<string, Promise<string>>()
  const clients = new Map<string, Clients>()
  const logs = () => gateway.context.store.read.selectFrom('logs').where('type', '=', 2)
  const connect = async ({ basePath = '', base = upstream.url, ...channel }: Setup) => {
    const id = await gateway.addChannel({ ...channel, base_url: base + basePath, models: model })
    // Appending a channel's id to root's token selects that channel.
    return `${gateway.token}-${id}`
  }
  const tokenOf = (setup: Setup) => {
    const key = JSON.stringify(setup)
    const token = tokens.get(key) ?? connect(setup)
    tokens.set(key, token)
    return token
  }
  return {
    gateway,
    upstream,
    direct: clientsOf(upstream.url, 'upstream-key'),
    token: tokenOf,
    async through(setup) {
      const token = await tokenOf(setup)
      const known = clients.get(token) ?? clientsOf(gateway.url, token)
      clients.set(token, known)
      return known
    },
    answer(...behaviours) {
      upstream.clear()
      upstream.next(...behaviours.slice(0, -1))
      upstream.always(behaviours.at(-1) as Behaviour)
    },
    lastLog: () => logs().selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow(),
    async logCount() {
      const { count } = await logs()
        .select((eb) => eb.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
    },
  }
}
