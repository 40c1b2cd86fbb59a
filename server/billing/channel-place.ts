import type { ChannelFull, PlaceAsked } from '../store/schema/ledger-types.ts'

/**
 * The place that a call needs on a channel with caps. A call that has a place is counted in the caps, which limit the
 * use of the channel.
 */
export interface PlaceRequest extends PlaceAsked {
  channelId: number
}

/** Thrown if a channel has no place for a call. Nothing is taken. */
export class ChannelIsFull extends Error {
  readonly full: ChannelFull

  constructor(full: ChannelFull) {
    super('the channel is full')
    this.full = full
  }
}
