import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { Candidate, Channel } from '../routing/routing-table.ts'
import { servingGroup } from './at-step.ts'
import type { AnyCall } from './call.ts'
import type { RelayDeps } from './deps.ts'
import type { ThreadKeeper } from './threads.ts'

/**
 * True for a call that belongs to a thread (a conversation that the service stores), so that later calls can continue
 * from its response.
 */
export function isThreaded({ dialect, state: { body } }: AnyCall): boolean {
  return dialect === 'anthropic-messages' && body.kind === 'json' && isObject(body.json['thread'])
}

/**
 * The id of the response from which a call continues. The service keeps that response together with its system prompt
 * and tools. Undefined for a call that begins a thread or has no thread.
 */
export function continuedFrom(call: AnyCall): string | undefined {
  const thread = isThreaded(call) && call.state.body.kind === 'json' ? call.state.body.json['thread'] : undefined
  const id = isObject(thread) && thread['type'] === 'continue' ? thread['previous_message_id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/**
 * The channel and key on which a call's thread continues. Undefined if the call can use any channel, or if there is
 * only one channel. Throws GatewayError (404) if the channel is unknown or the key no longer exists. After this error,
 * the caller's app sends the whole conversation.
 */
export function threadKeeper(deps: RelayDeps, call: AnyCall): ThreadKeeper | undefined {
  if (call.keeper) return call.keeper
  const messageId = continuedFrom(call)
  const { caller, facts } = call
  if (messageId === undefined) return undefined
  const { chosenChannel } = caller
  if (chosenChannel && !chosenChannel.keyRing) return undefined
  const candidates = chosenChannel
    ? [{ channel: chosenChannel }]
    : deps.routing().allCandidates(servingGroup(call), facts.model)
  const known = deps.threads.find(caller.tokenId, messageId)
  const keeper = known && candidates.find(({ channel }) => channel.id === known.channelId)?.channel
  // A paused key is accepted too, because it will soon be usable again, whereas a new thread would cost the whole
  // prompt again.
  if (known && keeper && (!keeper.keyRing || keeper.keyRing.live().includes(known.key))) return known
  const [only] = candidates
  if (!known && only && candidates.length === 1 && !only.channel.keyRing) return undefined
  throw new GatewayError(
    'thread_not_found',
    'the channel or key of this thread is no longer known or in use: send the whole conversation with thread {"type": "create"}',
    { param: 'thread', details: { error_code: 'thread_not_found' } },
  )
}

/** The channel that keeps a thread, with the thread's key; undefined if the channel has already been tried. */
export function keeperOf(
  candidates: readonly Pick<Candidate, 'channel'>[],
  { channelId, key }: ThreadKeeper,
  tried: ReadonlySet<number>,
): Channel | undefined {
  const channel = candidates.find((each) => each.channel.id === channelId)?.channel
  if (!channel || tried.has(channelId)) return undefined
  return channel.keyRing ? { ...channel, upstream: { ...channel.upstream, key } } : channel
}

/**
 * The error for a channel whose service does not store threads. After this error, the caller's app sends the whole
 * conversation.
 */
export function noThreads(label: string): GatewayError {
  return new GatewayError(
    'thread_not_supported',
    `channel type ${label} does not support threads: send the whole conversation without thread`,
    { param: 'thread', details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } },
  )
}
