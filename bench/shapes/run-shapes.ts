import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { startBare, startGateway, type Target, type Upstream } from '../targets.ts'
import { measureShape, type ShapeFigures, startProber } from './measure-shapes.ts'
import { shapes } from './shapes.ts'
import { startUpstream } from './upstream.ts'

/**
 * Measures the CPU time of the main thread for bodies of each shape, in the gateway and in the program that only
 * forwards requests.
 */
export async function runShapes(
  folder: string,
  { sizes, rounds }: { sizes: readonly number[]; rounds: number },
): Promise<ShapeFigures[]> {
  const server = startUpstream()
  const upstream: Upstream = { port: server.port, tlsPort: server.port, certificateFile: '' }
  const targets: Target[] = []
  const measured: ShapeFigures[] = []
  try {
    targets.push(
      await startBare(upstream),
      await startGateway(upstream, { name: 'gateway', folder: mkdtempSync(join(folder, 'shapes-')) }),
    )
    for (const target of targets) measured.push(...(await measureTarget(target, sizes, rounds)))
    return measured
  } finally {
    for (const target of targets) await target.running?.stop()
    await server.stop()
  }
}

async function measureTarget(target: Target, sizes: readonly number[], rounds: number): Promise<ShapeFigures[]> {
  const isGateway = target.name === 'gateway'
  const prober = isGateway ? startProber(`http://127.0.0.1:${target.port}/healthz`) : undefined
  const measured: ShapeFigures[] = []
  try {
    for (const mebibytes of sizes) {
      for (const shape of shapes) {
        if (shape.translated && !isGateway) continue
        const figures = await measureShape(shape, target, { mebibytes, rounds, prober })
        measured.push(figures)
        console.log(lineOf(figures))
      }
    }
  } finally {
    prober?.stop()
  }
  return measured
}

function lineOf({ title, target, mebibytes, status, msPerMib, mostMsPerMib, slowestHealthMs }: ShapeFigures): string {
  const cells = [
    `${mebibytes} MiB`.padStart(7),
    title.padEnd(50),
    target.padEnd(8),
    String(status),
    `${msPerMib.toFixed(1)} ms/MiB, at most ${mostMsPerMib.toFixed(1)}`,
  ]
  if (target === 'gateway') cells.push(`slowest health check ${slowestHealthMs.toFixed(0)} ms`)
  return cells.join(' ')
}

/** The figures in Markdown: a row for each shape and size. */
export function shapesTable(measured: readonly ShapeFigures[]): string[] {
  if (measured.length === 0) return []
  const rows = measured.filter(({ target }) => target === 'gateway')
  const bare = (row: ShapeFigures) =>
    measured.find(
      ({ target, title, mebibytes }) => target === 'bare' && title === row.title && mebibytes === row.mebibytes,
    )
  return [
    '| shape of the body | MiB | status | main thread ms/MiB | at most | bare ms/MiB | slowest health check ms | RSS MB |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const floor = bare(row)?.msPerMib.toFixed(1) ?? ''
      const own = [row.msPerMib.toFixed(1), row.mostMsPerMib.toFixed(1)]
      const rest = [row.slowestHealthMs.toFixed(0), row.residentMb.toFixed(0)]
      return `| ${[row.title, row.mebibytes, row.status, ...own, floor, ...rest].join(' | ')} |`
    }),
  ]
}
