import { answerByPath } from './answer-by-path.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { Behaviour } from './types.ts'

/** Chooses a behaviour for a request, or leaves it to the next rule. */
export type Choose = (request: RecordedRequest) => Behaviour | undefined

/**
 * What the upstream does, and when. The first rule with an answer wins: `script` → `forKey` → `forModel` → `next` (a
 * queue, each used once) → `always` → a good answer for the path.
 */
export class Script {
  #choose: Choose = () => undefined
  readonly #byKey = new Map<string, Behaviour[]>()
  readonly #byModel = new Map<string, Behaviour[]>()
  #queue: Behaviour[] = []
  #always: Behaviour = answerByPath()

  /** Calls this function first, for every request. */
  script(choose: Choose): void {
    this.#choose = choose
  }

  /** Queues behaviours, each for one request. */
  next(...behaviours: Behaviour[]): void {
    this.#queue.push(...behaviours)
  }

  /** Answers all requests that no other rule handles. */
  always(behaviour: Behaviour): void {
    this.#always = behaviour
  }

  /** Answers requests with this upstream key in order; the last behaviour is repeated. */
  forKey(key: string, ...behaviours: Behaviour[]): void {
    this.#byKey.set(key, behaviours)
  }

  /** Answers requests for this model in order; the last behaviour is repeated. */
  forModel(model: string, ...behaviours: Behaviour[]): void {
    this.#byModel.set(model, behaviours)
  }

  /** Forgets every rule. */
  clear(): void {
    this.#choose = () => undefined
    this.#byKey.clear()
    this.#byModel.clear()
    this.#queue = []
    this.#always = answerByPath()
  }

  /** Behaviours queued with `next` that have not been used. */
  get unused(): readonly Behaviour[] {
    return this.#queue
  }

  /** A behaviour that acts on the headers alone; rules by model do not apply yet. */
  chooseAtHead(request: RecordedRequest): Behaviour | undefined {
    const sequence = request.key === undefined ? undefined : this.#byKey.get(request.key)
    const candidate = sequence?.[0] ?? this.#queue[0] ?? this.#always
    if (candidate.at !== 'head') return undefined
    if (sequence?.[0]) return advance(sequence)
    return this.#queue.shift() ?? candidate
  }

  choose(request: RecordedRequest): Behaviour {
    return (
      this.#choose(request) ??
      advance(this.#byKey.get(request.key ?? '')) ??
      advance(this.#byModel.get(request.model ?? '')) ??
      this.#queue.shift() ??
      this.#always
    )
  }
}

function advance(behaviours: Behaviour[] | undefined): Behaviour | undefined {
  return behaviours && behaviours.length > 1 ? behaviours.shift() : behaviours?.[0]
}
