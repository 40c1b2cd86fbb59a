import type { RelayDeps } from '../call/deps.ts'
import type { DeadlineWait } from '../cancellation/deadline-watch.ts'
import type { NextPart, StreamPiece, StreamReader } from './stream-reader.ts'

const never = Number.POSITIVE_INFINITY

/**
 * The reader of a stream that broke off. It is used until another attempt continues the stream or all attempts have
 * failed. Its last piece is then `rescued`. Until then, it reports `quiet`, so that the caller is sent keep-alives.
 */
export class WaitingReader implements StreamReader, DeadlineWait {
  dueAtMs = never
  watchIndex: number | undefined
  readonly #deps: RelayDeps
  readonly #quietMs: number
  #last: StreamPiece | undefined
  #answer: ((piece: StreamPiece) => void) | undefined

  constructor(deps: RelayDeps, done: Promise<NextPart | undefined>) {
    this.#deps = deps
    this.#quietMs = deps.settings().KeepAliveInterval * 1000
    deps.deadlineWatch.add(this)
    const end = (last: StreamPiece) => {
      deps.deadlineWatch.remove(this)
      this.#last = last
      this.#give(last)
    }
    done.then(
      (next) => end({ kind: 'rescued', next }),
      (fault: unknown) => end({ kind: 'fault', fault }),
    )
  }

  ask(answer: (piece: StreamPiece) => void): void {
    if (this.#last) {
      answer(this.#last)
      return
    }
    this.#answer = answer
    this.dueAtMs = this.#quietMs > 0 ? this.#deps.deadlineWatch.nowMs() + this.#quietMs : never
  }

  next(): Promise<StreamPiece> {
    return new Promise((resolve) => this.ask(resolve))
  }

  /** Called when nothing has happened for the interval of keep-alives. */
  due(): void {
    this.#give({ kind: 'quiet' })
  }

  #give(piece: StreamPiece): void {
    const answer = this.#answer
    this.#answer = undefined
    this.dueAtMs = never
    answer?.(piece)
  }

  /** Does nothing, because the attempt that is in progress detects a disconnect of the caller itself. */
  cancel(): void {}
  drain(): void {}
  hurry(): void {}
}
