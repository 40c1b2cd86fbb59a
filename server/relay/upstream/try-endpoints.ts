import { readErrorBody } from '../../dialects/openai-passthrough/errors.ts'
import { withoutKey } from '../../lib/secrets/without-key.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { Settings } from '../../settings/settings.ts'
import type { RelayDeps } from '../call/deps.ts'
import { addressVerdict, isOfficial } from '../failures/no-such-address.ts'
import type { Channel } from '../routing/routing-table.ts'
import {
  callUpstream,
  endpointsOf,
  isChat,
  mayBeMissing,
  type Patience,
  placeOf,
  upstreamCallOf,
} from './call-endpoint.ts'
import { type Attempting, type Prepared, prepare } from './prepare.ts'
import { type Conversing, prepareConversation } from './prepare-conversation.ts'
import { readErrorAnswer } from './read-answer.ts'

/** A call at one channel, before its endpoint is chosen. */
export type Question = Omit<Attempting, 'endpoint' | 'upstreamCall'>

/** The request that was sent, and the head of the answer, whatever its status. */
export interface Asked {
  prepared: Prepared
  response: Response
}

/** The time limits of a channel, or else those of the settings. */
export function patienceOf(channel: Channel, settings: Settings): Patience {
  return {
    connectTimeoutMs: channel.connectTimeoutMs ?? settings.ConnectTimeout * 1000,
    firstByteTimeoutMs: shorter(
      channel.firstByteTimeoutMs ?? settings.FirstByteTimeout * 1000,
      channel.relayTimeoutMs ?? settings.RelayTimeout * 1000,
    ),
  }
}

/** The shorter of two time limits; 0 means no limit. */
function shorter(aMs: number, bMs: number): number {
  return aMs > 0 && bMs > 0 ? Math.min(aMs, bMs) : Math.max(aMs, bMs)
}

/**
 * Sends a call to the best endpoint of its channel, or to the next if the service does not have that one. `ready` is
 * called with the prepared request before it is sent. Throws GatewayError, also before a promise is returned,
 * AttemptFailed and CallerLeft.
 */
export function tryEndpoints(
  deps: RelayDeps,
  question: Question,
  patience: Patience,
  ready: (prepared: Prepared) => void,
): Promise<Asked> {
  const { call, channel, upstreamModel } = question
  const [first, second] = endpointsOf(deps, call, channel, upstreamModel)
  return second
    ? askEither(deps, question, first, second, patience, ready)
    : askAt(deps, question, first, patience, ready)
}

/** The answer of the first endpoint, or of the second if the service does not have the first. */
async function askEither(
  deps: RelayDeps,
  question: Question,
  first: ChatEndpoint | ModeEndpoint,
  second: ChatEndpoint | ModeEndpoint,
  patience: Patience,
  ready: (prepared: Prepared) => void,
): Promise<Asked> {
  const { channel } = question
  const asked = await askAt(deps, question, first, patience, ready)
  const { response } = asked
  if (!mayBeMissing(response) || isOfficial(channel.upstream.baseUrl, channel.provider.meta.defaultBaseUrl))
    return asked
  const text = withoutKey(await readErrorAnswer(deps, response), channel.upstream.key)
  const verdict = addressVerdict(response.status, text, usualPath(first))
  if (verdict === 'there') return { ...asked, response: new Response(text, response) }
  const other = await askAt(deps, question, second, patience, ready)
  if (verdict === 'missing' && other.response.ok && isChat(first))
    deps.unsupportedFeatures.note(placeOf(channel, first), readErrorBody(text, response.status).message)
  return other
}

/** The end of the path where a dialect is usually served. */
function usualPath(endpoint: ChatEndpoint | ModeEndpoint): string {
  return isChat(endpoint) && endpoint.dialect.name === 'anthropic-messages' ? '/messages' : '/responses'
}

/** Sends a call to one endpoint of its channel. Throws like `tryEndpoints`. */
export async function askAt(
  deps: RelayDeps,
  question: Question,
  endpoint: ChatEndpoint | ModeEndpoint,
  patience: Patience,
  ready?: (prepared: Prepared) => void,
): Promise<Asked> {
  const upstreamCall = upstreamCallOf(question.call, endpoint, question.upstreamModel)
  const attempting: Attempting = { ...question, upstreamCall, endpoint }
  const preparing = isConversing(attempting) ? prepareConversation(deps, attempting) : prepare(attempting)
  const prepared = preparing instanceof Promise ? await preparing : preparing
  ready?.(prepared)
  return { prepared, response: await callUpstream(deps, attempting, prepared, patience) }
}

function isConversing(attempting: Attempting): attempting is Conversing {
  return isChat(attempting.endpoint)
}
