import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../processes.ts'
import { machine } from '../report.ts'
import type { Plan } from './explain.ts'

/** Timing of a call over HTTP, in milliseconds. */
export interface Timing {
  name: string
  path: string
  median: number
  p95: number
  /** CPU time of gateway and database per call. */
  cpuMs: number
}

export interface DatabaseReport {
  kind: 'SQLite' | 'PostgreSQL'
  rows: number
  /** The cost of adding all rows except the newest to the usage rollups. */
  counted: { ms: number; cpuMicrosPerRow: number }
  timings: Timing[]
  /** The export of the whole log; undefined if it was skipped. */
  exported: { rows: number; megabytes: number; ms: number; beforeMb: number; mostMb: number } | undefined
  plans: Plan[]
}

const startMark = '<!-- logs -->'
const endMark = '<!-- /logs -->'

/** Prints the tables, and writes them into docs/performance.md if requested. */
export function writeReport(
  reports: readonly DatabaseReport[],
  { load, command, write }: { load: number; command: string; write: boolean },
): void {
  const text = [
    `Measured ${new Date().toISOString().slice(0, 10)} on ${machine()}; load average ${load.toFixed(2)} at the start. Bun ${Bun.version}.`,
    `Command: \`${command}\`.`,
    '',
    ...timings(reports),
    '',
    ...exportsOf(reports),
    '',
    ...plans(reports),
  ].join('\n')
  console.log(`\n${text}`)
  if (!write) return
  const path = join(ROOT, 'docs/performance.md')
  const page = readFileSync(path, 'utf8')
  const [from, to] = [page.indexOf(startMark), page.indexOf(endMark)]
  if (from < 0 || to < 0) throw new Error(`${path} has no ${startMark} and ${endMark}`)
  writeFileSync(path, `${page.slice(0, from + startMark.length)}\n\n${text}\n\n${page.slice(to)}`)
}

function timings(reports: readonly DatabaseReport[]): string[] {
  const names = reports[0]?.timings.map(({ name }) => name) ?? []
  const heads = reports.flatMap(({ kind }) => [`${kind} median ms`, 'p95 ms', 'CPU ms'])
  const cells = (name: string) =>
    reports.flatMap((report) => {
      const timing = report.timings.find((each) => each.name === name)
      return [timing?.median, timing?.p95, timing?.cpuMs].map((value) => value?.toFixed(1) ?? '')
    })
  return [
    `| call | ${heads.join(' | ')} |`,
    `| --- |${heads.map(() => ' ---: |').join('')}`,
    ...names.map((name) => `| ${name} | ${cells(name).join(' | ')} |`),
  ]
}

function exportsOf(reports: readonly DatabaseReport[]): string[] {
  return reports.flatMap(({ kind, counted, exported }) => {
    const csv = exported && [
      `the whole log as CSV, ${exported.rows} rows, ${exported.megabytes.toFixed(0)} MB, in ${(exported.ms / 1000).toFixed(1)} s; resident memory ${exported.beforeMb.toFixed(0)} MB before, ${exported.mostMb.toFixed(0)} MB at most.`,
    ]
    const sums = counted.ms > 0 && [
      `Computing the totals of all rows again took ${(counted.ms / 1000).toFixed(1)} s and ${counted.cpuMicrosPerRow.toFixed(1)} µs of CPU per row.`,
    ]
    const parts = [...(csv || []), ...(sums || [])]
    return parts.length === 0 ? [] : [`- ${kind}: ${parts.join(' ')}`]
  })
}

function plans(reports: readonly DatabaseReport[]): string[] {
  return reports.flatMap(({ kind, plans }) => [
    `What the queries read on ${kind}:`,
    '',
    '```',
    ...plans.flatMap(({ question, reads }) => [question, ...ofMonths(reads).map((line) => `    ${line}`)]),
    '```',
    '',
  ])
}

/** Replaces the months in the names of partitions, then removes duplicate lines. */
const ofMonths = (lines: readonly string[]) => [
  ...new Set(
    lines.map((line) =>
      line.replaceAll(/logs_\d{4}_\d\d\w*_(?=\w+ on)/g, 'logs_month_').replaceAll(/logs_\d{4}_\d\d/g, 'logs_month'),
    ),
  ),
]
