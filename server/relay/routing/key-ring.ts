/** State shared by a key ring and the ring that replaces it. */
interface Shared {
  /** Index of the key whose turn it is. */
  next: number
  restUntilMs: Map<string, number>
  /** Keys that this process has set aside but that are not yet stored as set aside. */
  unstored: Set<string>
}

/**
 * Several keys of one channel, used in turn. Keys that the upstream refused are skipped as long as another key is left.
 */
export class KeyRing {
  readonly #keys: readonly string[]
  readonly #dead: Set<string>
  readonly #shared: Shared

  /** `previous` is the ring that this one replaces. Its position and its pauses are kept. */
  constructor(keys: readonly string[], dead: Iterable<string>, previous?: KeyRing) {
    this.#shared = previous ? previous.#shared : { next: 0, restUntilMs: new Map(), unstored: new Set() }
    this.#keys = keys
    this.#dead = new Set([...dead, ...this.#shared.unstored])
  }

  /**
   * The next key in turn that is not in `except`. If all keys are dead or paused, one of them is used anyway, because
   * refusing the call would help nobody.
   */
  pick(nowMs: number, except?: ReadonlySet<string>): string {
    const index =
      this.#first((key) => this.#isUsable(key, nowMs) && !except?.has(key)) ??
      this.#first((key) => !this.#dead.has(key)) ??
      this.#shared.next % this.#keys.length
    this.#shared.next = index + 1
    return this.#keys[index] ?? ''
  }

  /** True while at least one key is not dead, not paused and not in `except`. */
  hasOther(except: ReadonlySet<string>, nowMs: number): boolean {
    return this.#keys.some((key) => !except.has(key) && this.#isUsable(key, nowMs))
  }

  /** Usable keys other than `key` and those in `except`, in turn. */
  others(key: string, nowMs: number, except?: ReadonlySet<string>): string[] {
    const from = this.#shared.next % this.#keys.length
    const inTurn = [...this.#keys.slice(from), ...this.#keys.slice(0, from)]
    return inTurn.filter((other) => other !== key && !except?.has(other) && this.#isUsable(other, nowMs))
  }

  /** Records that the upstream refused the key permanently. Returns false if that was already known. */
  setAside(key: string): boolean {
    if (this.#dead.has(key)) return false
    this.#dead.add(key)
    this.#shared.unstored.add(key)
    return true
  }

  /** Records that the database now lists the key as set aside. From now on, the stored state decides. */
  stored(key: string): void {
    this.#shared.unstored.delete(key)
  }

  /** Records that the upstream asked for a pause of the key. */
  rest(key: string, untilMs: number): void {
    this.#shared.restUntilMs.set(key, Math.max(untilMs, this.#shared.restUntilMs.get(key) ?? 0))
  }

  /** Keys that have been set aside. */
  dead(): readonly string[] {
    return this.#keys.filter((key) => this.#dead.has(key))
  }

  /** Keys in use. */
  live(): readonly string[] {
    return this.#keys.filter((key) => !this.#dead.has(key))
  }

  #isUsable(key: string, nowMs: number): boolean {
    return !this.#dead.has(key) && (this.#shared.restUntilMs.get(key) ?? 0) <= nowMs
  }

  /** Index of the first key that fits, starting with the one whose turn it is. */
  #first(fits: (key: string) => boolean): number | undefined {
    for (let step = 0; step < this.#keys.length; step++) {
      const index = (this.#shared.next + step) % this.#keys.length
      if (fits(this.#keys[index] ?? '')) return index
    }
    return undefined
  }
}
