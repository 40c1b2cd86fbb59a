/** A message to a worker, or its reply. Both contain the number of the job. */
interface Numbered {
  id: number
}

interface Waiting<Answer> {
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** A worker without jobs ends after this time, because the code that it has loaded takes memory. */
const idleLifeMs = 5 * 60_000

/** A worker thread that starts with its first job and ends some minutes after its last. */
export class IdleWorker<Job, Answer extends Numbered> {
  readonly #url: string
  readonly #name: string
  readonly #waiting = new Map<number, Waiting<Answer>>()
  #worker: Worker | undefined
  #idleTimer: ReturnType<typeof setTimeout> | undefined
  #lastId = 0

  /** `name` identifies the worker in errors. */
  constructor(url: string, name: string) {
    this.#url = url
    this.#name = name
  }

  /**
   * Runs a job. Rejects if the worker itself fails. A failure within a job must be part of its answer. `handedOver`
   * contains memory of the job that is transferred to the worker without a copy.
   */
  run(job: Job, handedOver: ArrayBuffer[] = []): Promise<Answer> {
    this.#worker ??= this.#start()
    clearTimeout(this.#idleTimer)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker?.postMessage({ ...job, id }, handedOver)
    })
  }

  close(): void {
    clearTimeout(this.#idleTimer)
    this.#worker?.terminate()
    this.#worker = undefined
  }

  #start(): Worker {
    const worker = new Worker(this.#url)
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      this.#waiting.get(data.id)?.resolve(data)
      this.#waiting.delete(data.id)
      if (this.#waiting.size > 0) return
      this.#idleTimer = setTimeout(() => this.close(), idleLifeMs)
      this.#idleTimer.unref()
    })
    worker.addEventListener('error', ({ message }) => {
      this.close()
      for (const { reject } of this.#waiting.values()) reject(new Error(`${this.#name} failed: ${message}`))
      this.#waiting.clear()
    })
    ;(worker as Worker & { unref?: () => void }).unref?.()
    return worker
  }
}
