import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import type { Case } from './cases.ts'
import type { DatabaseCost, Measurement } from './measure.ts'
import type { ShapeFigures } from './shapes/measure-shapes.ts'
import { shapesTable } from './shapes/run-shapes.ts'

/** The medians of one case and target over its rounds. */
export interface Summary {
  readonly case: string
  readonly title: string
  readonly target: Measurement['target']
  readonly rounds: number
  readonly perSecond: number
  readonly cpuMicros: number
  readonly cpuShare: number
  readonly p50: number
  readonly p99: number
  readonly firstByteP50: number
  readonly firstByteP99: number
  readonly residentMb: number
  readonly residentBeforeMb: number
  readonly residentStartMb: number
  readonly residentEndMb: number
  readonly mockCpuMicros: number
  readonly loadCpuMicros: number
  /** Undefined for a program without a PostgreSQL database. */
  readonly database: DatabaseCost | undefined
  readonly failed: number
  readonly maxGapMs: number
  readonly stalls: number
  readonly failures: readonly string[]
}

/** Where and how the measurement was made. */
export interface Circumstances {
  readonly date: string
  readonly machine: string
  readonly versions: Readonly<Record<string, string>>
  readonly command: string
  readonly loadAverage: number
}

const START = '<!-- bench -->'
const END = '<!-- /bench -->'

/** A description of this machine, without its name. */
export function machine(): string {
  const [first] = cpus()
  return `${first?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`
}

/** Medians per case and target. */
export function summarise(cases: readonly Case[], measured: readonly Measurement[]): Summary[] {
  return cases.flatMap((one) =>
    one.targets.flatMap((target) => {
      const rounds = measured.filter((m) => m.case === one.id && m.target === target)
      return rounds.length === 0 ? [] : [summary(one, target, rounds)]
    }),
  )
}

function summary(one: Case, target: Measurement['target'], rounds: readonly Measurement[]): Summary {
  const mid = (pick: (m: Measurement) => number) => median(rounds.map(pick))
  return {
    case: one.id,
    title: one.title,
    target,
    rounds: rounds.length,
    perSecond: mid((m) => m.perSecond),
    cpuMicros: mid((m) => m.cpuMicros),
    cpuShare: mid((m) => m.cpuShare),
    p50: mid((m) => m.latencyMs.p50),
    p99: mid((m) => m.latencyMs.p99),
    firstByteP50: mid((m) => m.firstByteMs.p50),
    firstByteP99: mid((m) => m.firstByteMs.p99),
    residentMb: Math.max(...rounds.map((m) => m.residentMb)),
    residentBeforeMb: mid((m) => m.residentBeforeMb),
    residentStartMb: mid((m) => m.residentStartMb),
    residentEndMb: mid((m) => m.residentEndMb),
    mockCpuMicros: mid((m) => m.mockCpuMicros),
    loadCpuMicros: mid((m) => m.loadCpuMicros),
    database: databaseCost(rounds),
    failed: rounds.reduce((sum, m) => sum + m.failed, 0),
    maxGapMs: Math.max(...rounds.map((m) => m.maxGapMs)),
    stalls: rounds.reduce((sum, m) => sum + m.stalls, 0),
    failures: [...new Set(rounds.flatMap((m) => m.failures))],
  }
}

function databaseCost(rounds: readonly Measurement[]): DatabaseCost | undefined {
  const costs = rounds.flatMap(({ database }) => database ?? [])
  if (costs.length === 0) return undefined
  const mid = (pick: (cost: DatabaseCost) => number) => median(costs.map(pick))
  const hasCpu = costs.every(({ cpuMicros }) => cpuMicros !== undefined)
  return {
    cpuMicros: hasCpu ? mid(({ cpuMicros = 0 }) => cpuMicros) : undefined,
    walBytes: mid(({ walBytes }) => walBytes),
    updates: mid(({ updates }) => updates),
    hotShare: mid(({ hotShare }) => hotShare),
    hotMb: Math.max(...costs.map(({ hotMb }) => hotMb)),
  }
}

/** The tables in Markdown. */
export function markdown(summaries: readonly Summary[], shapes: readonly ShapeFigures[], about: Circumstances): string {
  const versions = Object.entries(about.versions).map(([name, version]) => `${name} ${version}`)
  const lines = [
    `Measured ${about.date} on ${about.machine}; load average ${about.loadAverage.toFixed(2)} at the start. ${versions.join(', ')}.`,
    `Command: \`${about.command}\`. Medians over alternating rounds; everything on (token check, limits, hold and settle, log row).`,
    '',
    ...requestTable(summaries.filter(({ case: id }) => id !== 'open-streams' && id !== 'stalled-readers')),
    '',
    ...memoryTable(summaries.filter(({ case: id }) => id === 'open-streams' || id === 'stalled-readers')),
    '',
    ...shapesTable(shapes),
  ]
  return lines.join('\n').trimEnd()
}

function requestTable(rows: readonly Summary[]): string[] {
  if (rows.length === 0) return []
  const hasDatabase = rows.some(({ database }) => database !== undefined)
  const head = [
    'case',
    'target',
    'CPU µs/request',
    'above bare',
    'peer ÷ gateway',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'first byte p50 ms',
    'first byte p99 ms',
    'RSS MB',
    'failed',
    'mock / load CPU µs',
    ...(hasDatabase ? databaseHead : []),
  ]
  return table(
    head,
    rows.map((row) => {
      const peer = rows.find((other) => other.case === row.case && other.target === 'peer')
      const ratio =
        row.target === 'gateway' && peer && row.cpuMicros > 0 ? (peer.cpuMicros / row.cpuMicros).toFixed(1) : ''
      const bare = rows.find((other) => other.case === row.case && other.target === 'bare')
      const work = row.target === 'gateway' && bare ? (row.cpuMicros - bare.cpuMicros).toFixed(0) : ''
      const own =
        row.target === 'direct' ? ['', '', '', ''] : [row.cpuMicros.toFixed(0), work, ratio, row.residentMb.toFixed(0)]
      const times = [row.p50, row.p99, row.firstByteP50, row.firstByteP99].map((ms) => ms.toFixed(2))
      const tools = `${row.mockCpuMicros.toFixed(0)} / ${row.loadCpuMicros.toFixed(0)}`
      return [
        row.title,
        row.target,
        own[0] ?? '',
        own[1] ?? '',
        own[2] ?? '',
        row.perSecond.toFixed(0),
        ...times,
        own[3] ?? '',
        String(row.failed),
        tools,
        ...(hasDatabase ? databaseCells(row.database) : []),
      ]
    }),
  )
}

const databaseHead = [
  'database CPU µs/request',
  'WAL bytes/request',
  'row versions/request',
  'HOT',
  'users, tokens, channels and holds, MB',
]

function databaseCells(cost: DatabaseCost | undefined): string[] {
  if (!cost) return databaseHead.map(() => '')
  const { cpuMicros, walBytes, updates, hotShare, hotMb } = cost
  const figures = [walBytes.toFixed(0), updates.toFixed(2), `${(hotShare * 100).toFixed(0)} %`, hotMb.toFixed(1)]
  return [cpuMicros?.toFixed(0) ?? '', ...figures]
}

function memoryTable(rows: readonly Summary[]): string[] {
  if (rows.length === 0) return []
  const head = [
    'case',
    'target',
    'RSS MB before',
    'after the warm-up',
    'at the end',
    'most',
    'CPU of one core',
    'cut or failed',
    'longest silence ms',
    'silences over 2 s',
    'first byte p99 ms',
  ]
  return table(
    head,
    rows.map((row) => {
      const watched = row.case === 'open-streams'
      const own =
        row.target === 'direct' ? ['', '', '', '', ''] : [...megabytes(row), `${(row.cpuShare * 100).toFixed(0)} %`]
      const streams = watched
        ? [row.maxGapMs.toFixed(0), String(row.stalls), row.firstByteP99.toFixed(1)]
        : ['', '', '']
      return [row.title, row.target, ...own, String(row.failed), ...streams]
    }),
  )
}

function megabytes(row: Summary): string[] {
  return [row.residentBeforeMb, row.residentStartMb, row.residentEndMb, row.residentMb].map((mb) => mb.toFixed(0))
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index < 2 ? '---' : '---:'))), ...rows.map(line)]
}

/** Writes the tables between the markers in the page; creates the page if it does not exist. */
export function writePage(path: string, text: string): void {
  const page = existsSync(path) ? readFileSync(path, 'utf8') : `# Performance\n\n${START}\n${END}\n`
  const from = page.indexOf(START)
  const to = page.indexOf(END)
  const block = `${START}\n\n${text}\n\n${END}`
  writeFileSync(
    path,
    from < 0 || to < 0 ? `${page.trimEnd()}\n\n${block}\n` : page.slice(0, from) + block + page.slice(to + END.length),
  )
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
