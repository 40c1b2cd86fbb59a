import { hashText } from '../../lib/quick-hash.ts'
import { rankOf } from './rendezvous.ts'

/** The conditions for choosing the key of a call. */
export interface KeyChoice {
  /** Keys that the call has already tried. */
  except?: ReadonlySet<string> | undefined
  /** The call's session, which always uses the same key; absent = the next key in turn is used. */
  session?: number | undefined
  /** True for keys that are paused because the provider asked for it; absent = no key is paused. */
  isResting?: ((key: string) => boolean) | undefined
}

/** State shared by a key ring and the ring that replaces it. */
interface Shared {
  /** The index of the next key in turn. */
  next: number
  /**
   * Keys that this process no longer uses because the upstream refused them, but that the database does not list as
   * refused yet.
   */
  unstored: Set<string>
}

/**
 * The keys of a channel that has several. They are used in turn. Keys that the upstream refused are skipped as long as
 * another key is left.
 */
export class KeyRing {
  readonly #keys: readonly string[]
  readonly #hashes: readonly number[]
  readonly #dead: Set<string>
  readonly #shared: Shared

  /** `previous` is the ring that this one replaces. Its position is kept. */
  constructor(keys: readonly string[], dead: Iterable<string>, previous?: KeyRing) {
    this.#shared = previous ? previous.#shared : { next: 0, unstored: new Set() }
    this.#keys = keys
    this.#hashes = keys.map((key) => hashText(0, key))
    this.#dead = new Set([...dead, ...this.#shared.unstored])
  }

  /**
   * The session's key or, without a session, the next key in turn. Keys in `except` are skipped. If all keys are
   * refused or paused, one of them is used anyway, because refusing the call would help nobody.
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

  /** The key to which a session belongs, among the keys in use. */
  placeOf(session: number): string | undefined {
    return this.#bestFor(session, (key) => !this.#dead.has(key))
  }

  /** True while at least one key is neither refused nor paused nor in `except`. */
  hasOther(except: ReadonlySet<string>, isResting: (key: string) => boolean): boolean {
    return this.#keys.some((key) => !except.has(key) && !this.#dead.has(key) && !isResting(key))
  }

  /** The other keys that can be used, in turn. Excludes `key`, and keys that are refused, paused or in `except`. */
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

  /** Records that the database now lists the key as refused. From then on, the stored state decides. */
  stored(key: string): void {
    this.#shared.unstored.delete(key)
  }

  /** Keys that the upstream has refused. */
  dead(): readonly string[] {
    return this.#keys.filter((key) => this.#dead.has(key))
  }

  /** Keys in use. */
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

  /** The index of the first key that fits, starting with the next key in turn. */
  #first(fits: (key: string) => boolean): number | undefined {
    for (let step = 0; step < this.#keys.length; step++) {
      const index = (this.#shared.next + step) % this.#keys.length
      if (fits(this.#keys[index] ?? '')) return index
    }
    return undefined
  }
}
