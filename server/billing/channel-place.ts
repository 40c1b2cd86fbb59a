import type { ChannelFull, PlaceAsked } from '../store/schema/ledger-types.ts'

/**
 * A request for a place on a channel with caps. Caps limit the use of a channel, and each call with a place counts
 * towards them.
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
