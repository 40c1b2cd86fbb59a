interface Sums {
  /**
   * The number of values in each bucket. Values in smaller buckets are not included. (In Prometheus, they are.) The
   * last count is for values above all bounds.
   */
  readonly counts: number[]
  count: number
  sum: number
}

/**
 * A Prometheus histogram with the label `mode`. It replaces prom-client's histogram, which looks up and checks its
 * labels for each value. That is expensive, because every call reports two values.
 */
export class ModeHistogram {
  readonly name: string
  readonly #help: string
  /** Upper bounds, smallest first. */
  readonly #bounds: readonly number[]
  readonly #ofModes = new Map<string, Sums>()

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
  }

  observe(mode: string, value: number): void {
    const sums = this.#sumsOf(mode)
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    sums.counts[bucket] = (sums.counts[bucket] ?? 0) + 1
    sums.count++
    sums.sum += value
  }

  /** The method that a prom-client registry calls on its metrics. */
  async get() {
    return {
      name: this.name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#ofModes].flatMap(([mode, sums]) => this.#valuesOf(mode, sums)),
    }
  }

  #sumsOf(mode: string): Sums {
    let sums = this.#ofModes.get(mode)
    if (!sums) {
      sums = { counts: new Array(this.#bounds.length + 1).fill(0), count: 0, sum: 0 }
      this.#ofModes.set(mode, sums)
    }
    return sums
  }

  #valuesOf(mode: string, { counts, count, sum }: Sums) {
    let below = 0
    const buckets = counts.map((here, bucket) => {
      below += here
      return { metricName: `${this.name}_bucket`, labels: { le: this.#bounds[bucket] ?? '+Inf', mode }, value: below }
    })
    const total = (of: 'sum' | 'count', value: number) => ({
      metricName: `${this.name}_${of}`,
      labels: { mode },
      value,
    })
    return [...buckets, total('sum', sum), total('count', count)]
  }
}
