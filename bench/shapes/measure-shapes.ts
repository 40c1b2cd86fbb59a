import { mainThreadSeconds, residentMb } from '../proc.ts'
import type { Target } from '../targets.ts'
import type { Shape } from './shapes.ts'

/** The measured cost of processing bodies of one shape and size in one program. */
export interface ShapeFigures {
  readonly title: string
  readonly translated: boolean
  readonly target: Target['name']
  readonly mebibytes: number
  /** Status of the responses. */
  readonly status: number
  /** CPU time of the main thread per MiB of body: the median of the rounds, and the maximum. */
  readonly msPerMib: number
  readonly mostMsPerMib: number
  /** The slowest health check while the bodies were read. */
  readonly slowestHealthMs: number
  readonly residentMb: number
}

const mebibyte = 1024 * 1024

/** Polls a health endpoint. `slowestMs` returns the duration of the slowest health check since its last call. */
export interface Prober {
  slowestMs(): Promise<number>
  stop(): void
}

/** Starts polling a program's health endpoint. */
export function startProber(url: string): Prober {
  const worker = new Worker(new URL('./prober.ts', import.meta.url).href)
  worker.postMessage(url)
  return {
    slowestMs: () =>
      new Promise((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<number>) => resolve(data)
        worker.postMessage('tell')
      }),
    stop: () => worker.terminate(),
  }
}

/** Sends bodies of one shape in sequence, and measures the CPU time of the target's main thread. */
export async function measureShape(
  shape: Shape,
  target: Target,
  { mebibytes, rounds, prober }: { mebibytes: number; rounds: number; prober: Prober | undefined },
): Promise<ShapeFigures> {
  const body = Buffer.from(shape.body(mebibytes * mebibyte))
  const headers = { ...target.headers(false, false), 'content-type': 'application/json' }
  const pid = target.running?.pid ?? 0
  const costs: number[] = []
  let status = 0
  await prober?.slowestMs()
  for (let round = 0; round < rounds; round++) {
    const before = mainThreadSeconds(pid)
    const response = await fetch(`http://127.0.0.1:${target.port}${shape.path}`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    status = response.status
    costs.push(((mainThreadSeconds(pid) - before) * 1000 * mebibyte) / body.length)
  }
  costs.sort((one, other) => one - other)
  return {
    title: shape.title,
    translated: shape.translated === true,
    target: target.name,
    mebibytes,
    status,
    msPerMib: costs[costs.length >> 1] ?? 0,
    mostMsPerMib: costs.at(-1) ?? 0,
    slowestHealthMs: (await prober?.slowestMs()) ?? 0,
    residentMb: residentMb(pid),
  }
}
