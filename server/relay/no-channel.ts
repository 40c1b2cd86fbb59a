import type { CallMode } from '../../contract/relay-modes.ts'
import { GatewayError } from '../errors.ts'
import type { AnyCall } from './call.ts'
import type { Candidate } from './routing-table.ts'
import { serves } from './select-channel.ts'

/** What a call asks for, by its mode. */
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

/** Why no channel was found for a call: none has its model, none of those serves this kind of call, or none is left. */
export function noChannel(
  { mode, dialect, facts: { model }, caller: { group } }: Pick<AnyCall, 'mode' | 'dialect' | 'facts' | 'caller'>,
  candidates: readonly Candidate[],
): GatewayError {
  const options = { param: 'model', lasting: true }
  if (candidates.length > 0 && !candidates.some(({ channel }) => serves(channel, mode, model)))
    return new GatewayError(
      'mode_not_supported',
      `no channel for model ${model} in group ${group} serves ${wishes[mode]}`,
      options,
    )
  const none = `no available channel for model ${model} in group ${group}`
  if (candidates.length > 0) return new GatewayError('no_available_channel', none)
  // Programs of Anthropic and Google take a 503 for a service that is overloaded; those of one-api know it for this.
  if (dialect === 'anthropic-messages' || dialect === 'gemini')
    return new GatewayError('model_not_found', `no channel serves model ${model} in group ${group}`, options)
  return new GatewayError('no_available_channel', none, options)
}
