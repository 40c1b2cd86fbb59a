import { ApiFailure } from '../../http/api-failure.ts'
import { splitList } from '../../lib/split-list.ts'

/**
 * Each model of a channel is stored with each of its groups, and calls are routed by what is in memory of these pairs:
 * long lists in both fields would make millions of them.
 */
const mostOfChannel = 50_000
/** Of all channels that are saved at once. */
const mostAtOnce = 500_000

/** Counts what is saved at once. */
export class AbilityLimit {
  #total = 0

  /** Adds so many channels that are alike. Throws ApiFailure where it is too much. */
  take({ models, group }: { models?: string | undefined; group?: string | undefined }, channels = 1): void {
    const pairs = splitList(models ?? '').length * splitList(group ?? 'default').length
    if (pairs > mostOfChannel) throw tooMany('A channel', mostOfChannel, pairs)
    this.#total += pairs * channels
    if (this.#total > mostAtOnce) throw tooMany('All channels that are saved at once', mostAtOnce, this.#total)
  }
}

function tooMany(what: string, most: number, pairs: number): ApiFailure {
  return new ApiFailure(`${what} may have ${most} pairs of a model and a group; these would be ${pairs}.`)
}
