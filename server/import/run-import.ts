import { join } from 'node:path'
import type { ImportPart, ImportReport, SumLine } from '../../contract/api/import.ts'
import { optionDefinitions } from '../../contract/options.ts'
import type { ImportDeps, ImportOptions } from '../jobs/import-engine.ts'
import { messageOf } from '../lib/message-of.ts'
import type { OpenedStore } from '../store/connection/open-options.ts'
import { type ImportRow, importById, journalOf } from '../store/imports/journal.ts'
import { loneRoot } from '../store/imports/target.ts'
import { optionRows } from '../store/installation/options.ts'
import { isFull } from '../store/statements/database-errors.ts'
import { rollUpUsage } from '../store/usage/usage-rollup.ts'
import { type BaseResult, copyBase } from './copy/copy-base.ts'
import { copyLogs } from './copy/copy-logs.ts'
import { earlierImport } from './earlier-import.ts'
import { integer, isDeleted, text } from './fields.ts'
import { ImportFailed } from './import-failed.ts'
import { createLeftoverFile } from './leftover-file.ts'
import type { Program } from './program.ts'
import { keepsIds, recognise } from './programs.ts'
import { refuseIds } from './refuse-ids.ts'
import { firstOpenCharge, type LogSums, logSums } from './source-sums.ts'
import { openImport, openSource } from './sources/open-source.ts'
import { pages, type SourceDatabase } from './sources/source-database.ts'
import { unlessCancelled } from './sources/unless-cancelled.ts'

/**
 * Imports another program's database. Accounts, channels and options are written in one transaction. Before the
 * transaction is committed, counts and totals are compared with those of the source. After the commit, the log is
 * copied in steps. If a run is interrupted, the next run continues it. Throws ImportFailed, and changes nothing, if the
 * source cannot be read or is not suitable.
 */
export async function runImport(deps: ImportDeps, options: ImportOptions): Promise<ImportReport> {
  const { access } = options
  const needs = {
    config: options.litellmConfig,
    dataDir: options.dataDir,
    quotaPerUnit: await quotaPerUnit(deps.store),
    variable: deps.variable,
  }
  const open = (address: string) => unlessCancelled(openSource(address, access), deps.signal)
  const source = await unlessCancelled(openImport(options.from, needs, access), deps.signal)
  try {
    const program = await recognise(source)
    await refuseIds(source)
    const logs = options.logsFrom === undefined ? source : await open(options.logsFrom)
    try {
      if (!logs.tables.has('logs'))
        throw new ImportFailed(
          `${logs.label} has no table logs. If the log is in a database of its own, give its address with --logs-from.`,
        )
      if (logs !== source) await refuseIds(logs)
      return await importFrom(deps, options, { source, logs, program })
    } finally {
      if (logs !== source) await logs.close()
    }
  } finally {
    await source.close()
  }
}

/** The number of quota units per unit of currency in this installation. */
async function quotaPerUnit({ read }: OpenedStore): Promise<number> {
  const row = (await optionRows(read)).find(({ key }) => key === 'QuotaPerUnit')
  return Number(row?.value ?? optionDefinitions.QuotaPerUnit.default)
}

interface Sources {
  source: SourceDatabase
  logs: SourceDatabase
  program: Program
}

async function importFrom(deps: ImportDeps, options: ImportOptions, sources: Sources): Promise<ImportReport> {
  const { store, nowMs, progress } = deps
  const { source, logs, program } = sources
  const began = nowMs()
  const wants = (part: ImportPart) => options.only.size === 0 || options.only.has(part)
  const earlier = await earlierImport(store.read, source, program)
  const after = earlier?.log_id ?? 0
  const all = await logSums(logs, program, { after })
  const now = Math.floor(began / 1000)
  const open = options.waitsForOpen ? await firstOpenCharge(logs, program, { after, now }) : undefined
  const log = open ? await logSums(logs, program, { after, upTo: open.id - 1 }) : all
  const root = earlier ? undefined : await loneRoot(store.read)
  if (!earlier && !root && !options.merge)
    throw new ImportFailed(
      'The installation already has users, channels or a log. Add to them (--merge), or import into a new installation.',
    )
  progress({ stage: 'accounts', done: 0, total: 0 })
  const given = { deps, sources, wants, earlier, root, log: all, dryRun: options.dryRun, leftovers }
  const base = await copyBase(given).catch((error: unknown) => {
    if (!isFull(error)) throw error
    throw new ImportFailed(
      `The disk of this installation cannot be written (${messageOf(error)}). Free some space, and import again. Nothing was changed.`,
      { cause: error },
    )
  })
  const report = baseReport({ options, sources, base, earlier })
  if (!options.dryRun) await tellNodes(store)
  if (wants('logs')) {
    if (options.dryRun) report.added.logs = log.rows
    else
      await importLogs(deps, options, { sources, importId: base.importId, log, report }).catch((error: unknown) => {
        if (!isFull(error)) throw error
        throw new ImportFailed(
          `The disk of this installation cannot be written (${messageOf(error)}). The accounts and a part of the log are imported. Free some space, and import again: it continues where it stopped.`,
          { cause: error },
        )
      })
    report.changedMeanwhile = (await logSums(logs, program, { after: all.lastId })).rows > 0
  }
  if (open) report.openCharges = open.count
  report.seconds = (nowMs() - began) / 1000
  return report

  function leftovers(importId: number) {
    return createLeftoverFile(join(options.dataDir, 'imports', `${program.name}-${importId}-${began}.jsonl`))
  }
}

function baseReport(given: {
  options: ImportOptions
  sources: Sources
  base: BaseResult
  earlier: ImportRow | undefined
}): ImportReport {
  const { options, sources, base, earlier } = given
  return {
    program: sources.program.title,
    version: sources.program.version,
    source: sources.source.label,
    dryRun: options.dryRun,
    mode: earlier ? 'again' : base.isFresh ? (keepsIds(sources.program) ? 'empty' : 'new') : 'merge',
    added: { ...base.added, logs: 0 },
    sums: base.sums,
    options: base.options,
    prices: base.prices,
    findings: base.findings,
    leftoversFile: base.leftovers > 0 ? base.leftoversFile : '',
    leftovers: base.leftovers,
    changedMeanwhile: false,
    seconds: 0,
  }
}

/** Notifies other processes, so that they reload settings, channels and tokens. */
async function tellNodes({ notices }: OpenedStore): Promise<void> {
  for (const topic of ['settings', 'channels', 'user', 'token'] as const) await notices.publish({ topic, id: 0 })
}

async function importLogs(
  deps: ImportDeps,
  options: ImportOptions,
  given: { sources: Sources; importId: number; log: LogSums; report: ImportReport },
): Promise<void> {
  const { store, nowMs, progress } = deps
  const { sources, importId, log, report } = given
  const before = await importById(store.read, importId)
  const total = before.log_rows + log.rows
  await copyLogs({
    store,
    source: sources.logs,
    program: sources.program,
    import: before,
    ids: await logIds(store, sources.source, importId),
    upTo: log.lastId,
    since: options.since,
    nowSeconds: () => Math.floor(nowMs() / 1000),
    progress: (done) => progress({ stage: 'logs', done: before.log_rows + done, total }),
  })
  progress({ stage: 'usage', done: 0, total: 0 })
  await rollUpUsage(store, Math.floor(nowMs() / 1000))
  const after = await importById(store.read, importId)
  report.added.logs = after.log_rows - before.log_rows
  const read = await logSums(sources.logs, sources.program, { after: before.log_id, upTo: log.lastId })
  const lines: SumLine[] = [
    { name: 'log rows', there: before.log_rows + read.rows, corrected: 0, here: after.log_rows },
    { name: 'charges', there: before.charge_rows + read.charges, corrected: 0, here: after.charge_rows },
    { name: 'quota of charges', there: before.charge_quota + read.quota, corrected: 0, here: after.charge_quota },
  ]
  // Rows before `options.since` are skipped intentionally, so the difference counts as an expected one.
  if (options.since > 0) for (const line of lines) line.corrected = line.here - line.there
  report.sums.push(...lines)
}

async function logIds(store: OpenedStore, source: SourceDatabase, importId: number) {
  const of = async (kind: 'user' | 'channel' | 'token') =>
    new Map([...(await journalOf(store.read, importId, kind))].map(([id, row]) => [Number(id), row.target_id]))
  const tokens = await of('token')
  const byName = new Map<string, number>()
  const columns = ['id', 'user_id', 'name', 'deleted_at'].filter((name) => source.tables.get('tokens')?.has(name))
  for await (const rows of pages(source, 'tokens', { limit: 5000, columns }))
    for (const row of rows) {
      const name = `${integer(row, 'user_id')}\n${text(row, 'name')}`
      const id = isDeleted(row) ? undefined : tokens.get(integer(row, 'id'))
      // If several tokens of a user have the same name, the log does not show which of them was used. The id is then 0.
      if (id !== undefined) byName.set(name, byName.has(name) ? 0 : id)
    }
  return { users: await of('user'), channels: await of('channel'), tokens, tokensByName: byName }
}
