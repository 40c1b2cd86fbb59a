import { answerByPath } from './answer-by-path.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { Behaviour } from './types.ts'

/** Chooses a behaviour for a request. Returns undefined to leave the choice to the next rule. */
export type Choose = (request: RecordedRequest) => Behaviour | undefined

/**
 * What the upstream does for each request. The first rule that returns a behaviour wins: `script` → `forKey` →
 * `forModel` → `next` (a queue, each used once) → `always` → a valid response for the path.
 */
export class Script {
  #choose: Choose = () => undefined
  readonly #byKey = new Map<string, Behaviour[]>()
  readonly #byModel = new Map<string, Behaviour[]>()
  #queue: Behaviour[] = []
  #always: Behaviour = answerByPath()

  /** Sets a function that is called first, for every request. */
  script(choose: Choose): void {
    this.#choose = choose
  }

  /** Queues behaviours, each for one request. */
  next(...behaviours: Behaviour[]): void {
    this.#queue.push(...behaviours)
  }

  /** Sets the behaviour for all requests that no other rule handles. */
  always(behaviour: Behaviour): void {
    this.#always = behaviour
  }

  /** Sets behaviours for requests with this upstream key, used in order. The last one is repeated. */
  forKey(key: string, ...behaviours: Behaviour[]): void {
    this.#byKey.set(key, behaviours)
  }

  /** Sets behaviours for requests for this model, used in order. The last one is repeated. */
  forModel(model: string, ...behaviours: Behaviour[]): void {
    this.#byModel.set(model, behaviours)
  }

  /** Removes every rule. */
  clear(): void {
    this.#choose = () => undefined
    this.#byKey.clear()
    this.#byModel.clear()
    this.#queue = []
    this.#always = answerByPath()
  }

  /** Behaviours that were queued with `next` and have not been used. */
  get unused(): readonly Behaviour[] {
    return this.#queue
  }

  /**
   * Chooses a behaviour that needs only the headers. Rules by model are skipped, because the model is in the body,
   * which has not arrived.
   */
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
