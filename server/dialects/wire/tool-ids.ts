import { fits, validName, type WordRule } from '../neutral/tool-rules.ts'

/** The prefix of an id that wraps another id. Every service accepts its characters. */
const mark = 'tgid_'

/** The id wrapped in `id`, if this gateway wrapped it; undefined for any other id. */
function held(id: string): string | undefined {
  if (!id.startsWith(mark)) return undefined
  const inner = Buffer.from(id.slice(mark.length), 'base64url').toString('utf8')
  return inner !== '' && holding(inner) === id ? inner : undefined
}

function holding(id: string): string {
  return mark + Buffer.from(id).toString('base64url')
}

/**
 * Converts the call ids of one request to ids that the service accepts. A valid id is sent unchanged. An invalid id is
 * encoded in a valid one, which wraps it. When the caller sends the wrapping id to a service that accepts the original,
 * the original is sent. An id that is too long to be wrapped is replaced by a hash. Different ids stay different.
 */
export class ToolIds {
  readonly #rule: WordRule
  readonly #unique: boolean
  /** The keys are the ids that have been or will be sent to the service. The values are the ids that they represent. */
  readonly #taken = new Map<string, string>()
  readonly #all: ReadonlySet<string>
  readonly #fit = new Map<string, string>()
  /** For each of the caller's ids, the number of its calls that have been converted. */
  readonly #calls = new Map<string, number>()
  /** For each of the caller's ids, the ids sent for those of its calls that have no result yet. */
  readonly #open = new Map<string, string[]>()
  readonly #last = new Map<string, string>()
  #unnamed = 0

  /** `all` contains the ids of all calls and results in the request. */
  constructor(rule: WordRule, all: Iterable<string>, unique = false) {
    this.#rule = rule
    this.#unique = unique
    this.#all = new Set(all)
    for (const id of this.#all) if (this.#isPlain(id)) this.#taken.set(id, id)
  }

  /** True if all ids of the request can be sent unchanged. Duplicate ids are not considered. */
  get allFit(): boolean {
    for (const id of this.#all) if (!this.#isPlain(id)) return false
    return true
  }

  /** Returns the id to send for the next call, which has the id `id` in the caller's request. */
  call(id: string): string {
    const before = this.#calls.get(id) ?? 0
    this.#calls.set(id, before + 1)
    const isAnother = id === '' || (before > 0 && this.#unique)
    const out = isAnother ? this.#fresh(`${id} ${before}`, id === '') : this.#fitOf(id)
    const open = this.#open.get(id)
    if (open) open.push(out)
    else this.#open.set(id, [out])
    this.#last.set(id, out)
    return out
  }

  /**
   * Returns the id to send for the next result, which has the id `id` in the caller's request. The result belongs to
   * the oldest call with this id that has no result.
   */
  result(id: string): string {
    const waiting = this.#open.get(id)?.shift() ?? this.#last.get(id)
    if (waiting !== undefined) return waiting
    return id === '' ? this.#oldest() : this.#fitOf(id)
  }

  /** Returns the id to send for a result that has no id. The result belongs to the oldest call without a result. */
  #oldest(): string {
    for (const open of this.#open.values()) {
      const out = open.shift()
      if (out !== undefined) return out
    }
    return this.#fresh(`result ${this.#unnamed++}`, true)
  }

  /** True if the id is valid and does not wrap an id that should be sent instead of it. */
  #isPlain(id: string): boolean {
    const inner = held(id)
    const opens = inner !== undefined && fits(inner, this.#rule) && !this.#all.has(inner)
    return id !== '' && !opens && fits(id, this.#rule)
  }

  #fitOf(id: string): string {
    const known = this.#fit.get(id)
    if (known !== undefined) return known
    const isFree = (this.#taken.get(id) ?? id) === id
    const out = this.#isPlain(id) && isFree ? id : this.#madeOf(id)
    this.#fit.set(id, out)
    this.#taken.set(out, id)
    return out
  }

  #madeOf(id: string): string {
    const inner = held(id)
    const opened = inner !== undefined && !this.#all.has(inner) ? inner : undefined
    const own = opened ?? id
    for (const candidate of [own, holding(own)])
      if (fits(candidate, this.#rule) && !this.#taken.has(candidate)) return candidate
    return this.#fresh(own, false)
  }

  #fresh(word: string, isUnnamed: boolean): string {
    for (let attempt = 0; ; attempt++) {
      const out = validName(isUnnamed ? `call_${word.trim()}` : word, this.#rule, attempt)
      if (this.#taken.has(out)) continue
      this.#taken.set(out, word)
      return out
    }
  }
}
