import { hashText } from '../../lib/quick-hash.ts'
import { rankOf } from './rendezvous.ts'

/** The conditions for choosing the key of a call. */
export interface KeyChoice {
  /** Keys that the call has already tried. */
  except?: ReadonlySet<string> | undefined
  /** The call's session, which always uses the same key; absent = the next key in turn is used. */
  session?: number | undefined
  /** True for keys for which the provider requested a pause; absent = no key is paused. */
  isResting?: ((key: string) => boolean) | undefined
}

/** State shared by a key ring and the ring that replaces it. */
interface Shared {
  /** The index of the next key in turn. */
  next: number
  /**
   * Keys that the upstream has refused, but that the database does not list as refused yet. This process does not use
   * them.
   */
  unstored: Set<string>
}

/**
 * The keys of a channel that has several keys. The keys are used in turn. Keys that the upstream has refused are
 * skipped if another key can be used.
 */
export class KeyRing {
  readonly #keys: readonly string[]
  readonly #hashes: readonly number[]
  readonly #dead: Set<string>
  readonly #shared: Shared

  /** `previous` is the ring that this one replaces. The new ring continues with the next key in turn of `previous`. */
  constructor(keys: readonly string[], dead: Iterable<string>, previous?: KeyRing) {
    this.#shared = previous ? previous.#shared : { next: 0, unstored: new Set() }
    this.#keys = keys
    this.#hashes = keys.map((key) => hashText(0, key))
    this.#dead = new Set([...dead, ...this.#shared.unstored])
  }

  /**
   * The session's key or, without a session, the next key in turn. Keys that are refused, paused or in `except` are
   * skipped. If no other key is left, one of them is returned anyway, because rejecting the call would help nobody.
   */
  pick({ except, session, isResting }: KeyChoice = {}): string {
    const isUsable = (key: string) => !this.#dead.has(key) && !isResting?.(key) && !except?.has(key)
    const kept = session === undefined ? undefined : this.#bestFor(session, isUsable)
    if (kept !== undefined) return kept
    const index =
      this.#first(isUsable) ?? this.#first((key) => !this.#dead.has(key)) ?? this.#shared.next % this.#keys.length
    this.#shared.next = index + 1
    return this.#keys[index] ?? ''
  }

  /** The key of a session, chosen among the keys that the upstream has not refused. */
  placeOf(session: number): string | undefined {
    return this.#bestFor(session, (key) => !this.#dead.has(key))
  }

  /** True while at least one key is neither refused nor paused nor in `except`. */
  hasOther(except: ReadonlySet<string>, isResting: (key: string) => boolean): boolean {
    return this.#keys.some((key) => !except.has(key) && !this.#dead.has(key) && !isResting(key))
  }

  /**
   * The keys that can be used in place of `key`, in turn. Keys that are refused, paused or in `except` are excluded.
   */
  others(key: string, { except, isResting }: Omit<KeyChoice, 'session'>): string[] {
    const from = this.#shared.next % this.#keys.length
    const inTurn = [...this.#keys.slice(from), ...this.#keys.slice(0, from)]
    return inTurn.filter(
      (other) => other !== key && !except?.has(other) && !this.#dead.has(other) && !isResting?.(other),
    )
  }

  /** Records that the upstream refused the key permanently. Returns false if the refusal was already recorded. */
  setAside(key: string): boolean {
    if (this.#dead.has(key)) return false
    this.#dead.add(key)
    this.#shared.unstored.add(key)
    return true
  }

  /**
   * Records that the database now lists the key as refused. Rings that are created later treat the key as refused only
   * if the database does.
   */
  stored(key: string): void {
    this.#shared.unstored.delete(key)
  }

  /** Keys that the upstream has refused. */
  dead(): readonly string[] {
    return this.#keys.filter((key) => this.#dead.has(key))
  }

  /** Keys that the upstream has not refused. */
  live(): readonly string[] {
    return this.#keys.filter((key) => !this.#dead.has(key))
  }

  #bestFor(session: number, fits: (key: string) => boolean): string | undefined {
    let best: string | undefined
    let bestRank = Number.POSITIVE_INFINITY
    for (const [index, key] of this.#keys.entries()) {
      const rank = rankOf(session, this.#hashes[index] ?? 0, 1)
      if (rank >= bestRank || !fits(key)) continue
      best = key
      bestRank = rank
    }
    return best
  }

  /** The index of the first key for which `fits` returns true, starting with the next key in turn. */
  #first(fits: (key: string) => boolean): number | undefined {
    for (let step = 0; step < this.#keys.length; step++) {
      const index = (this.#shared.next + step) % this.#keys.length
      if (fits(this.#keys[index] ?? '')) return index
    }
    return undefined
  }
}
