import { ApiFailure } from '../../http/api-failure.ts'
import { splitList } from '../../lib/split-list.ts'

/**
 * The maximum number of pairs of model and group that a channel may have. Each model of a channel is stored with each
 * of its groups, and routing keeps these pairs in memory. Without a limit, long lists in both fields would create
 * millions of pairs.
 */
const mostOfChannel = 50_000
/** The maximum number of pairs in all channels that are saved in one call. */
const mostAtOnce = 500_000

/** Counts the pairs of model and group in all channels that are saved in one call. */
export class AbilityLimit {
  #total = 0

  /**
   * Adds the pairs of `channels` channels that have the same models and groups. Throws ApiFailure if there are too
   * many.
   */
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
