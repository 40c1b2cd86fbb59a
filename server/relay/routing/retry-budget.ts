/**
 * Limits the retries for a model to a share of its calls. Without this limit, retries would double the load on the
 * upstreams of the model in an outage.
 */
export interface RetryBudget {
  /** Counts a call. */
  called(model: string, nowMs: number): void
  /** Takes a retry from the budget. False if the budget of the last minute is used up. */
  take(model: string, nowMs: number): boolean
}

const share = 0.2
/** The number of retries per minute that is always allowed, even for a model with few calls. */
const leastRetries = 30
const slotMs = 10_000
const slots = 6
/**
 * The maximum number of models. There are usually far fewer. Arbitrary model names are accepted only from admins who
 * select the channel of their request.
 */
const mostModels = 10_000

/** Counts of the last minute, in slots of ten seconds. */
class Minute {
  readonly #counts = new Array<number>(slots).fill(0)
  #slot = 0

  add(slot: number): void {
    this.#goTo(slot)
    this.#counts[slot % slots] = (this.#counts[slot % slots] ?? 0) + 1
  }

  sum(slot: number): number {
    this.#goTo(slot)
    return this.#counts.reduce((total, count) => total + count, 0)
  }

  #goTo(slot: number): void {
    if (slot <= this.#slot) return
    for (let passed = Math.max(this.#slot + 1, slot - slots + 1); passed <= slot; passed++)
      this.#counts[passed % slots] = 0
    this.#slot = slot
  }
}

/**
 * Creates a budget that counts only the calls and retries of this process. Each node limits the retries for its own
 * share of the calls.
 */
export function createRetryBudget(): RetryBudget {
  const models = new Map<string, { calls: Minute; retries: Minute }>()

  function of(model: string) {
    const known = models.get(model)
    if (known) return known
    if (models.size >= mostModels) models.clear()
    const counts = { calls: new Minute(), retries: new Minute() }
    models.set(model, counts)
    return counts
  }

  return {
    called(model, nowMs) {
      of(model).calls.add(Math.floor(nowMs / slotMs))
    },
    take(model, nowMs) {
      const slot = Math.floor(nowMs / slotMs)
      const { calls, retries } = of(model)
      if (retries.sum(slot) >= Math.max(leastRetries, share * calls.sum(slot))) return false
      retries.add(slot)
      return true
    },
  }
}
