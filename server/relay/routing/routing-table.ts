import { channelStatus } from '../../../contract/statuses.ts'
import { type SystemPlacement, systemPlacements } from '../../dialects/wire/system-turns.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'
import { providerOf } from '../../providers/registry.ts'
import { keyLines } from '../../store/channels/key-lines.ts'
import { type ChannelRow, routingMark, routingRows } from '../../store/channels/routing-rows.ts'
import { openedCarries } from '../../store/channels/stored-carries.ts'
import type { Store } from '../../store/store.ts'
import { type Carries, carriesOf } from './carries.ts'
import { type ChannelCosts, costsOf } from './channel-cost.ts'
import { type KeyChoice, KeyRing } from './key-ring.ts'
import { type VirtualModel, virtualModelsOf } from './virtual-models.ts'

/**
 * A channel in the form that calls use: its settings are parsed, its secrets are decrypted, and its provider is known.
 */
export interface Channel {
  id: number
  name: string
  type: number
  status: number
  provider: Provider
  upstream: Upstream
  /**
   * Chooses the key for each call if the channel has several keys; otherwise undefined. In a channel with several keys,
   * `upstream.key` is empty until `withKey` has chosen the key.
   */
  keyRing: KeyRing | undefined
  /** A bit field: 1 if the channel has caps, 2 if its keys have caps. */
  capped: number
  /** Maps each key to its keyed hash; undefined if the keys have no caps. */
  keyParts: ReadonlyMap<string, string> | undefined
  /** The weight of the channel. Channels of equal priority receive calls in proportion to their weights. At least 1. */
  weight: number
  /** Maps the requested model to the model name that is sent upstream. */
  modelMapping: ReadonlyMap<string, string>
  models: readonly string[]
  systemPrompt: string
  /** The channel's own time limits in milliseconds; undefined = the limits from the options, 0 = no limit. */
  connectTimeoutMs: number | undefined
  firstByteTimeoutMs: number | undefined
  streamIdleTimeoutMs: number | undefined
  relayTimeoutMs: number | undefined
  /**
   * The time limit for the first content of a stream, in general and for individual models, in milliseconds; 0 = no
   * limit.
   */
  firstTokenTimeoutMs: number | undefined
  firstTokenLimits: ReadonlyMap<string, number> | undefined
  httpVersion: 'auto' | '1.1' | '2'
  /** What the channel adds to or changes in its calls; undefined = nothing. */
  carries: Carries | undefined
  /** The prices of the channel's upstream; undefined = not known. */
  costs: ChannelCosts | undefined
  /** The model with which the channel is tested; '' = the first suitable model. */
  testModel: string
  /** Where system messages are placed; undefined = where they suit the upstream best. */
  systemPlacement: SystemPlacement | undefined
}

/** A channel that serves a model for a group. Candidates with the highest priority come first. */
export interface Candidate {
  channel: Channel
  priority: number
}

/** An immutable snapshot of the channels that serve each model. A new table is built whenever a channel changes. */
export interface RoutingTable {
  candidates(group: string, model: string): readonly Candidate[]
  /** Like `candidates`, but includes the channels that are being drained. */
  allCandidates(group: string, model: string): readonly Candidate[]
  /** True if at least one channel is being drained. */
  readonly hasDrained: boolean
  /** When the draining of a channel began, in epoch seconds; undefined = the channel accepts new sessions. */
  drainedAt(id: number): number | undefined
  /** Models that some channel serves for the group, sorted. */
  models(group: string): readonly string[]
  /** A virtual model that the group may use; undefined = the group has no virtual model with this name. */
  virtual(group: string, model: string): VirtualModel | undefined
  /** All virtual models, by name. */
  virtuals(): ReadonlyMap<string, VirtualModel>
  /** The groups that have channels. */
  groups(): readonly string[]
  channel(id: number): Channel | undefined
  /** All channels of a known type, whatever their status. */
  channels(): readonly Channel[]
}

export interface RoutingSource {
  current(): RoutingTable
  reload(): Promise<void>
  /**
   * Reloads the table if the stored channels have changed since it was loaded. This is needed if a change notice was
   * lost.
   */
  refresh(): Promise<void>
}

/** Loads the routing table of this node, and reloads it whenever a channel changes. */
export async function loadRouting(
  store: Store,
  secrets: Secrets,
  warn: (message: string) => void,
): Promise<RoutingSource> {
  let { table, mark } = await build(store, secrets, warn)
  let begun = 0
  let applied = 0
  async function reload(): Promise<void> {
    // Reloads may overlap. A reload that began later has newer rows, so an earlier reload never replaces its table.
    // When `reload` resolves, the table contains the rows of this reload or newer ones.
    const mine = ++begun
    const next = await build(store, secrets, warn, () => table)
    if (mine < applied) return
    applied = mine
    table = next.table
    mark = next.mark
  }
  store.notices.subscribe(async (notice) => {
    if (notice === 'reconnected' || notice.topic === 'channels') {
      await reload().catch((error) => warn(`reloading the channels failed: ${String(error)}`))
    }
  })
  return {
    current: () => table,
    reload,
    async refresh() {
      if ((await routingMark(store.read)) !== mark) await reload()
    },
  }
}

/**
 * Returns a copy of the channel whose `upstream.key` is the key of the session or the next key in turn. A channel that
 * has only one key is returned unchanged.
 */
export function withKey(channel: Channel, choice?: KeyChoice): Channel {
  if (!channel.keyRing) return channel
  return { ...channel, upstream: { ...channel.upstream, key: channel.keyRing.pick(choice) } }
}

/** The name that is sent to the channel's upstream for a model. */
export function mappedModel(channel: Channel, model: string): string {
  return channel.modelMapping.get(model) ?? model
}

async function build(
  store: Store,
  secrets: Secrets,
  warn: (message: string) => void,
  /** Called after the rows have been read. Returns the table that is in use at that time. */
  before: () => RoutingTable | undefined = () => undefined,
): Promise<{ table: RoutingTable; mark: string }> {
  const rows = await routingRows(store.read)
  const previous = before()
  const dead = new Set(rows.deadKeys.map((row) => `${row.channel_id} ${row.key_hash}`))
  const keysOf = (row: ChannelRow, text: string): ChannelKeys | undefined => {
    if (row.key_mode !== 'multi') return undefined
    const keys = keyLines(text)
    const parts = new Map(keys.map((key) => [key, secrets.fingerprint(key, 'channel-key')]))
    const isDead = (key: string) => dead.has(`${row.id} ${parts.get(key)}`)
    const keyRing = new KeyRing(keys, keys.filter(isDead), previous?.channel(row.id)?.keyRing)
    return { keyRing, keyParts: row.capped & cappedKeys ? parts : undefined }
  }
  const channels = new Map<number, Channel>()
  for (const row of rows.channels) {
    const channel = toChannel(row, secrets, warn, keysOf)
    if (channel) channels.set(row.id, channel)
  }
  const draining = new Map(rows.channels.flatMap((row) => (row.draining ? [[row.id, Number(row.drained_at)]] : [])))
  const all = groupsOf(channels, rows.abilities)
  const groups =
    draining.size === 0
      ? all
      : groupsOf(
          channels,
          rows.abilities.filter(({ channel_id }) => !draining.has(channel_id)),
        )
  const virtuals = virtualModelsOf(rows.virtualModels)
  const table: RoutingTable = {
    candidates: (group, model) => groups.get(group)?.get(model) ?? [],
    allCandidates: (group, model) => all.get(group)?.get(model) ?? [],
    hasDrained: draining.size > 0,
    drainedAt: (id) => draining.get(id),
    models: (group) => [...(groups.get(group)?.keys() ?? [])].sort(),
    virtual(group, model) {
      const virtual = virtuals.get(model)
      return virtual?.isEnabled && (!virtual.groups || virtual.groups.has(group)) ? virtual : undefined
    },
    virtuals: () => virtuals,
    groups: () => [...all.keys()],
    channel: (id) => channels.get(id),
    channels: () => [...channels.values()],
  }
  return { table, mark: rows.mark }
}

/** The candidates of each group and model, in order of priority. */
function groupsOf(
  channels: ReadonlyMap<number, Channel>,
  abilities: readonly { group: string; model: string; channel_id: number; priority: number }[],
): Map<string, Map<string, Candidate[]>> {
  const groups = new Map<string, Map<string, Candidate[]>>()
  for (const ability of abilities) {
    const channel = channels.get(ability.channel_id)
    if (!channel || channel.status !== channelStatus.enabled) continue
    const models = groups.get(ability.group) ?? new Map<string, Candidate[]>()
    groups.set(ability.group, models)
    const list = models.get(ability.model) ?? []
    models.set(ability.model, list)
    list.push({ channel, priority: ability.priority })
  }
  for (const models of groups.values()) {
    for (const list of models.values()) list.sort((a, b) => b.priority - a.priority || a.channel.id - b.channel.id)
  }
  return groups
}

/** The bit of `capped` that is set if the keys have caps. */
const cappedKeys = 2

/** The keys of a channel that has several keys. */
interface ChannelKeys {
  keyRing: KeyRing
  keyParts: ReadonlyMap<string, string> | undefined
}

function toChannel(
  row: ChannelRow,
  secrets: Secrets,
  warn: (message: string) => void,
  keysOf: (row: ChannelRow, text: string) => ChannelKeys | undefined,
): Channel | undefined {
  const provider = providerOf(row.type)
  if (!provider) return undefined
  let key: string
  let carries: ReturnType<typeof openedCarries>
  try {
    key = secrets.open(row.key, 'channel')
    carries = openedCarries(row, secrets)
  } catch {
    warn(
      `the key of channel ${row.id} cannot be decrypted: SECRET_KEY has changed or the row was edited; save the key again`,
    )
    return undefined
  }
  return openedChannel({ ...row, ...carries }, provider, key, keysOf(row, key))
}

/** Converts a row into the channel that the relay uses. The key and the other secrets must already be decrypted. */
export function openedChannel(
  row: Omit<ChannelRow, 'key' | 'key_mode' | 'group' | 'priority' | 'capped' | 'draining' | 'drained_at'> & {
    capped?: number
  },
  provider: Provider,
  key: string,
  keys?: ChannelKeys,
): Channel {
  const parsed = row.config === '' ? {} : tryParse(row.config)
  const config = isObject(parsed) ? parsed : {}
  const mapping = row.model_mapping === '' ? {} : tryParse(row.model_mapping)
  const limit = (name: string) => (typeof config[name] === 'number' ? (config[name] as number) * 1000 : undefined)
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    status: row.status,
    provider,
    upstream: {
      baseUrl: (row.base_url || provider.meta.defaultBaseUrl).replace(/\/+$/, ''),
      // A channel with several keys has no key of its own. The key ring chooses the key of each call.
      key: keys ? '' : key,
      other: row.other || (provider.meta.otherDefault ?? ''),
      config,
    },
    keyRing: keys?.keyRing,
    capped: row.capped ?? 0,
    keyParts: keys?.keyParts,
    weight: Math.max(1, row.weight),
    modelMapping: new Map(
      Object.entries(isObject(mapping) ? mapping : {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
      ),
    ),
    models: row.models.split(',').filter((model) => model !== ''),
    systemPrompt: row.system_prompt,
    connectTimeoutMs: limit('connect_timeout'),
    firstByteTimeoutMs: limit('first_byte_timeout'),
    streamIdleTimeoutMs: limit('stream_idle_timeout'),
    relayTimeoutMs: limit('relay_timeout'),
    firstTokenTimeoutMs: limit('first_token_timeout'),
    firstTokenLimits: limitsByModel(config['first_token_timeouts']),
    carries: carriesOf(row),
    costs: costsOf(row.costs),
    testModel: row.test_model,
    systemPlacement: systemPlacements.find((each) => each === config['system_turns']),
    httpVersion: config['http_version'] === '1.1' || config['http_version'] === '2' ? config['http_version'] : 'auto',
  }
}

/** Converts the time limits of models from seconds to milliseconds. */
function limitsByModel(value: unknown): ReadonlyMap<string, number> | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return entries.length === 0 ? undefined : new Map(entries.map(([model, limit]) => [model, limit * 1000]))
}
