import type { CallMode } from '../../../contract/relay-modes.ts'
import { GatewayError } from '../../errors.ts'
import { servingGroup } from '../call/at-step.ts'
import type { AnyCall } from '../call/call.ts'
import type { Candidate } from '../routing/routing-table.ts'
import { serves } from '../routing/select-channel.ts'

/** For each kind of call, the words with which the error message names what the call requests. */
const wishes: Readonly<Record<CallMode, string>> = {
  chat: 'conversations',
  completions: 'completions',
  embeddings: 'embeddings',
  moderations: 'moderations',
  rerank: 'reranking',
  images: 'images',
  'image-edits': 'edits of images',
  'image-variations': 'variations of images',
  speech: 'speech',
  transcriptions: 'transcriptions',
  translations: 'translations of sound',
  realtime: 'realtime sessions',
}

/**
 * The error for a call that has no channel, because no channel with its model serves this kind of call or because no
 * channel is left.
 */
export function noChannel(
  call: Pick<AnyCall, 'mode' | 'facts' | 'caller' | 'step'>,
  candidates: readonly Candidate[],
): GatewayError {
  const { mode, facts } = call
  const { model } = facts
  const group = servingGroup(call)
  if (candidates.length > 0 && !candidates.some(({ channel }) => serves(channel, mode, model)))
    return new GatewayError(
      'mode_not_supported',
      `no channel for model ${model} in group ${group} serves ${wishes[mode]}`,
    )
  return new GatewayError('no_available_channel', `no available channel for model ${model} in group ${group}`)
}
