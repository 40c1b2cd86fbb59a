import type { Anthropic } from '@anthropic-ai/sdk'
import type { JsonObject } from '../../lib/json.ts'
import type { Plain } from '../neutral/always.ts'

/**
 * A message as client programs of the Messages API read it. Its blocks are either built one by one or come from the
 * service.
 */
export type WireMessage = Omit<Anthropic.Message, 'content' | 'stop_reason' | 'usage'> & {
  content: JsonObject[]
  stop_reason: string | null
  usage: WireUsage
}

export type WireUsage = Plain<Anthropic.Usage>
export type WireStopDetails = Anthropic.RefusalStopDetails | null
export type WireText = Omit<Anthropic.TextBlock, 'citations'> & { citations: JsonObject[] | null }
export type WireThinking = Plain<Anthropic.ThinkingBlock>
export type WireRedactedThinking = Plain<Anthropic.RedactedThinkingBlock>
export type WireToolUse = Plain<Anthropic.ToolUseBlock>
export type WireCitation = Plain<Anthropic.CitationsWebSearchResultLocation>

type Event = Anthropic.RawMessageStreamEvent

/** Fields of events that are built and checked separately. */
type Built = 'content_block' | 'delta' | 'message'

interface Parts {
  content_block: JsonObject
  delta: WireDelta
  message: WireMessage
}

/** A change of a block or of the message. */
type WireDelta =
  | Exclude<Anthropic.RawContentBlockDelta, { type: 'citations_delta' }>
  | { type: 'citations_delta'; citation: JsonObject }
  | (Omit<Anthropic.RawMessageDeltaEvent['delta'], 'stop_reason'> & { stop_reason: string | null })

export type WireBlockDelta = Extract<WireDelta, { type: string }>
export type WireEventType = Event['type']

/** The fields of an event other than its type. */
export type WireEvent<T extends WireEventType> = Omit<Extract<Event, { type: T }>, 'type' | Built> &
  Pick<Parts, Built & keyof Extract<Event, { type: T }>>
