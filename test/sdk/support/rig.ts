import OpenAI from 'openai'
import { type Behaviour, type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.ts'
import { type RecordingCase, replay } from '../../helpers/recordings.ts'
import { type LogRow, startTestGateway, type TestGateway } from '../../helpers/test-gateway.ts'
import { ratioOptions } from './prices.ts'

/** How a recorded service is configured as a channel. */
export interface ChannelSetup {
  type: number
  /** The path that is appended to the URL of the replaying server to form the channel's base_url. */
  basePath: string
  /** The API version of Azure. */
  other?: string
  modelMapping?: Readonly<Record<string, string>>
}

/**
 * A gateway in front of a scripted upstream, and official clients for both. The same call to both must return or throw
 * the same.
 */
export interface Rig extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  /** A client that calls the upstream directly. */
  direct: OpenAI
  /** A client that calls the gateway, bound to a channel with this setup. */
  through(setup?: ChannelSetup): Promise<OpenAI>
  /** Sets the behaviours for all requests from now on, used in order. The last one is repeated. */
  answer(...behaviours: readonly [...Behaviour[], Behaviour]): void
  /** The newest log row. */
  lastLog(): Promise<LogRow>
  logCount(): Promise<number>
}

const openaiChannel: ChannelSetup = { type: 1, basePath: '' }

/** Starts the gateway and the upstream, with simple prices for the given models. */
export async function startRelayRig(models: Iterable<string>): Promise<Rig> {
  const gateway = await startTestGateway()
  const upstream = await startFakeUpstream()
  for (const [key, value] of ratioOptions(models)) await gateway.setOption(key, value)
  const channels = new Map<string, Promise<number>>()
  const logs = () => gateway.context.store.read.selectFrom('logs')
  return {
    gateway,
    upstream,
    direct: new OpenAI({ apiKey: 'upstream-key', baseURL: `${upstream.url}/v1`, maxRetries: 0 }),
    async through(setup = openaiChannel) {
      const key = JSON.stringify(setup)
      const id = channels.get(key) ?? gateway.addChannel(channelInput(setup, upstream.url))
      channels.set(key, Promise.resolve(id))
      // Appending a channel's id to root's token selects that channel.
      return new OpenAI({ apiKey: `${gateway.token}-${await id}`, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    },
    answer(...behaviours) {
      upstream.clear()
      const last = behaviours.at(-1) as Behaviour
      upstream.next(...behaviours.slice(0, -1))
      upstream.always(last)
    },
    lastLog: () => logs().selectAll().where('type', '=', 2).orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow(),
    async logCount() {
      const { count } = await logs()
        .select((eb) => eb.fn.countAll().as('count'))
        .where('type', '=', 2)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
    },
  }
}

function channelInput({ type, basePath, other, modelMapping }: ChannelSetup, url: string) {
  return {
    type,
    base_url: url + basePath,
    models: 'any-model',
    ...(other !== undefined && { other }),
    ...(modelMapping && { model_mapping: JSON.stringify(modelMapping) }),
  }
}

/** A behaviour that responds with a recording, in one write per event. */
export const recorded = (recording: RecordingCase): Behaviour => replay(recording)
