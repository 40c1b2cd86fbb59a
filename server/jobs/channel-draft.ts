import { GatewayError } from '../errors.ts'
import { withoutKey } from '../lib/secrets/without-key.ts'
import { type FetchJsonThrough, through } from '../outbound/fetch-json.ts'
import { providerOf } from '../providers/registry.ts'
import type { RelayDeps } from '../relay/call/deps.ts'
import { type Channel, openedChannel } from '../relay/routing/routing-table.ts'
import { createUnsupportedFeatures } from '../relay/routing/unsupported-features.ts'
import { probeChannel } from '../relay/upstream/probe-channel.ts'
import type { ChannelDraft, DraftReport } from './draft-report.ts'

type DraftDeps = { relay: RelayDeps; fetchJson: FetchJsonThrough }

/**
 * Tests a draft, which is a channel that is not stored. Lists the models of its upstream, and sends the upstream one
 * small request. Nothing is stored, and the results do not affect stored channels.
 */
export async function probeDraft({ relay, fetchJson }: DraftDeps, draft: ChannelDraft): Promise<DraftReport> {
  const channel = channelOf(draft)
  if (!channel) return { ...untested, message: 'This channel type is not supported.' }
  const listed = await listModels(channel, fetchJson, relay.clock.nowMs())
  const tried = { ...channel, models: modelsToTry(channel, listed.models) }
  // Upstream tokens that are issued for this key are not kept, because the key may never be saved.
  const accessTokens: RelayDeps['accessTokens'] = {
    get: async (_name, make) => (await make()).value,
    refused: () => undefined,
  }
  const unsupportedFeatures = createUnsupportedFeatures(() => relay.clock.nowMs())
  const { ok, timeMs, message, model } = await probeChannel(
    { ...relay, accessTokens, unsupportedFeatures },
    tried,
    undefined,
  )
  return { ok, timeMs, message, model, models: listed.models, modelsMessage: listed.message }
}

const untested: DraftReport = { ok: false, timeMs: 0, message: '', model: '', models: [], modelsMessage: '' }

function channelOf(draft: ChannelDraft): Channel | undefined {
  const provider = providerOf(draft.type)
  return provider && openedChannel({ ...draft, ...draft.carries, ...unsaved }, provider, draft.key)
}

const unsaved = { id: 0, name: '', status: 1, weight: 1, system_prompt: '', costs: '' }

async function listModels(
  { provider, upstream, carries }: Channel,
  fetchJson: FetchJsonThrough,
  nowMs: number,
): Promise<{ models: string[]; message: string }> {
  if (!provider.listModels) return { models: [], message: 'This is not available for this channel type.' }
  if (upstream.baseUrl === '') return { models: [], message: '' }
  try {
    return {
      models: [...new Set(await provider.listModels(upstream, through(fetchJson, carries?.proxy), nowMs))].sort(),
      message: '',
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { models: [], message: withoutKey(error.message, upstream.key) }
  }
}

/**
 * The models to try: the draft's models or, if it has none, the default models of its type and all models that the
 * upstream lists. Models that the upstream does not list come last.
 */
function modelsToTry({ models, provider, modelMapping }: Channel, listed: readonly string[]): string[] {
  const wanted = models.length > 0 ? models : [...provider.meta.models]
  const known = new Set(listed)
  const isListed = (model: string) => known.has(modelMapping.get(model) ?? model)
  return [...wanted.filter(isListed), ...(models.length > 0 ? [] : listed), ...wanted.filter((each) => !isListed(each))]
}
