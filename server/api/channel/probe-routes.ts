import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, type PersonCall, serve } from '../../http/serve-endpoint.ts'
import { channelById } from '../../store/channels/channels.ts'
import { type StoredCarries, textsIn } from '../../store/channels/stored-carries.ts'
import type { ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'
import { carryFields } from './carry-input.ts'
import { channelFields } from './channel-input.ts'
import { newKeys, openKeys, refuseMalformedKeys } from './channel-keys.ts'
import { keysFromConfig } from './config-keys.ts'
import { refuseLendingKey, refuseLendingSecrets } from './key-destination.ts'
import { nothingCarried, readableCarries } from './stored-carries.ts'

type ProbeDeps = Pick<ApiDeps, 'store' | 'secrets' | 'catalogue' | 'probeDraft'>
type ProbeCall = PersonCall<typeof api.channel.probe>

/**
 * The maximum number of tests that one person may run at a time, because a test waits up to a minute for the upstream.
 */
const mostTests = 2

/** Tests of channels that are not saved. Must be mounted before `/api/channel/{id}`. */
export function mountChannelProbe(router: ApiRouter, deps: ProbeDeps): void {
  const running = createPerPerson(mostTests, 'channel tests')
  serve(router, api.channel.probe, async (call) => {
    const draft = await draftOf(deps, call)
    const release = running.take(call.person.id)
    try {
      const { timeMs, modelsMessage, ...report } = await deps.probeDraft(draft)
      return { ...report, time: timeMs / 1000, models_message: modelsMessage }
    } finally {
      release()
    }
  })
}

/** The draft of a channel. It must follow the same rules as a saved channel with these fields. */
async function draftOf(deps: ProbeDeps, { body: sent, person }: ProbeCall) {
  const body = keysFromConfig(sent)
  const types = new Set(deps.catalogue().map(({ type }) => type))
  const { models, id, ...others } = body
  const fields = channelFields({ ...others, ...(models !== '' && { models }) }, (type) => types.has(type))
  const destination = { type: body.type, base_url: fields.base_url ?? '' }
  const isKeyReplaced = body.key.trim() !== ''
  const keys = isKeyReplaced ? newKeys(body.key) : await storedKeys(deps, id, person.role, destination)
  const { test_model = '', ...carries } = await draftCarries(deps, { body, person, destination, isKeyReplaced })
  refuseMalformedKeys(body.type, keys)
  return {
    ...destination,
    key: keys[0] ?? '',
    other: fields.other ?? '',
    config: fields.config ?? '',
    models: fields.models ?? '',
    model_mapping: fields.model_mapping ?? '',
    carries,
    test_model,
  }
}

/**
 * What the draft adds to its requests, such as headers. Secrets that the body omits are taken from the stored channel.
 * Throws ApiFailure if the person may not change the channel in this way.
 */
async function draftCarries(
  { store, secrets }: ProbeDeps,
  draft: Pick<ProbeCall, 'body' | 'person'> & {
    destination: { type: number; base_url: string }
    isKeyReplaced: boolean
  },
): Promise<StoredCarries & { test_model?: string }> {
  const { body, person, destination, isKeyReplaced } = draft
  const before = body.id === undefined ? undefined : await channelById(store.read, body.id)
  const stored = before ? readableCarries(before, secrets) : nothingCarried
  const sent = carryFields(body, textsIn(stored.headers))
  const carries = { ...stored, ...sent }
  if (before)
    refuseLendingSecrets(
      person.role,
      { destination: before, carries: stored },
      { destination, carries },
      { isKeyReplaced, headers: body.headers, login: body.proxy_login },
    )
  return carries
}

/** The keys of the stored channel. Throws if the person may not send them to this URL. */
async function storedKeys(
  { store, secrets }: ProbeDeps,
  id: number | undefined,
  role: number,
  destination: { type: number; base_url: string },
): Promise<string[]> {
  if (id === undefined) throw new ApiFailure('key must not be empty.')
  const before = await channelById(store.read, id)
  if (!before) throw new ApiFailure('Channel not found.')
  refuseLendingKey(role, before, destination)
  return openKeys(store.read, secrets, id)
}
