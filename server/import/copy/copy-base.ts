import type { Finding, ImportPart, PriceRow, SumLine } from '../../../contract/api/import.ts'
import type { AuditAction } from '../../../contract/audit-actions.ts'
import type { ImportDeps } from '../../jobs/import-engine.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { OpenedStore } from '../../store/connection/open-options.ts'
import {
  beginImport,
  type ImportedSums,
  type ImportKind,
  type ImportRow,
  importedSums,
  type JournalRow,
  journalOf,
  updateImport,
  wasCommitted,
} from '../../store/imports/journal.ts'
import { reserveIds } from '../../store/imports/target.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Db, Trx } from '../../store/store.ts'
import { applyChannelPrices } from '../channel-prices.ts'
import { leaveExtraTables, reportNewColumns } from '../extra-tables.ts'
import { createFindings } from '../findings.ts'
import { ImportFailed } from '../import-failed.ts'
import type { LeftoverFile } from '../leftover-file.ts'
import { readOptions } from '../options.ts'
import { completeGroups, completePrices, priceTable, servedModels } from '../prices.ts'
import type { Program } from '../program.ts'
import { keepsIds } from '../programs.ts'
import { sumLines, unequal } from '../report.ts'
import { type LogSums, sourceSums } from '../source-sums.ts'
import type { SourceDatabase } from '../sources/source-database.ts'
import { copyChannels } from './copy-channels.ts'
import { copyCodes } from './copy-codes.ts'
import { copyOptions, type OptionChange } from './copy-options.ts'
import { copyTokens } from './copy-tokens.ts'
import { copyUsers } from './copy-users.ts'
import { noSums, type Work } from './work.ts'

/** The input of `copyBase`. */
export interface BaseGiven {
  deps: ImportDeps
  sources: { source: SourceDatabase; program: Program }
  wants(part: ImportPart): boolean
  earlier: ImportRow | undefined
  root: { id: number; hasAccessToken: boolean } | undefined
  log: LogSums
  dryRun: boolean
  leftovers(importId: number): LeftoverFile
}

export interface BaseResult {
  importId: number
  isFresh: boolean
  added: { users: number; tokens: number; channels: number; codes: number }
  sums: SumLine[]
  options: OptionChange[]
  prices: PriceRow[]
  findings: Finding[]
  leftovers: number
  leftoversFile: string
}

/** The suffix that is added to a copied name if the name is already taken. */
const suffix = '-import'

/**
 * Copies everything except the log in one transaction. Before the transaction is committed, counts and totals (such as
 * the number of users and the sum of their balances) are compared with those of the source. If they differ, nothing is
 * copied.
 */
export async function copyBase(given: BaseGiven): Promise<BaseResult> {
  const { store } = given.deps
  if (given.dryRun) return copyAll(given, store.read, undefined)
  let file: LeftoverFile | undefined
  let copied: BaseResult | undefined
  const leftovers = (importId: number) => {
    file = given.leftovers(importId)
    return file
  }
  try {
    return await (store.writeUnlimited ?? store.write)(async (trx) => {
      // PostgreSQL may abort a transaction, which is then repeated. Each attempt has an id, and thus a file, of its own.
      file?.discard()
      copied = undefined
      copied = await copyAll({ ...given, leftovers }, trx, trx)
      return copied
    })
  } catch (error) {
    // The commit may fail, too. If the connection was lost, the import may be committed all the same.
    if (copied && !given.earlier && (await isCommitted(store, copied, error))) return copied
    file?.discard()
    throw error
  }
}

/** True if an import was committed although its commit failed. Throws ImportFailed if this cannot be found out. */
async function isCommitted(store: OpenedStore, copied: BaseResult, error: unknown): Promise<boolean> {
  if (store.dialect === 'sqlite') return false
  try {
    return await wasCommitted(store, copied.importId)
  } catch {
    if (copied.leftovers === 0) return false
    throw new ImportFailed(
      `The connection to the database of this installation was lost at the end (${messageOf(error)}). Import again: if the accounts are there, it continues. In this case, keep ${copied.leftoversFile}, which has the items without a counterpart; otherwise delete it.`,
      { cause: error },
    )
  }
}

async function copyAll(given: BaseGiven, db: Db, trx: Trx | undefined): Promise<BaseResult> {
  const { deps, sources, earlier, root, log } = given
  const now = Math.floor(deps.nowMs() / 1000)
  const isFresh = earlier?.is_fresh ?? root !== undefined
  const importId = earlier?.id ?? (trx ? await begin(given, trx, { now, isFresh }) : 0)
  const file = given.leftovers(importId)
  const findings = createFindings(trx && !earlier ? (leftover) => file.add(leftover) : undefined)
  const work: Work = {
    ...sources,
    secrets: deps.secrets,
    findings,
    now,
    db,
    trx,
    importId,
    isFresh,
    keepsIds: isFresh && keepsIds(sources.program),
    root,
    suffix,
    journal: (kind) => (earlier ? journalOf(db, importId, kind) : Promise.resolve(new Map<string, JournalRow>())),
    corrections: noSums(),
  }
  sources.source.report?.(findings)
  if (trx && work.keepsIds && !earlier) await keepKnownIds(trx, log)
  const there = await sourceSums(sources.source)
  const copied = await copyParts(given, work)
  if (!earlier) await leaveExtraTables(sources.source, findings, trx === undefined)
  reportNewColumns(sources.source, findings)
  const sums = await checkedSums(given, work, there)
  if (trx) await finish(work, trx, copied.added, deps.actor)
  file.close()
  return {
    importId,
    isFresh,
    ...copied,
    sums,
    findings: findings.list(),
    leftovers: findings.leftovers(),
    leftoversFile: file.path,
  }
}

async function begin(
  { sources, log }: BaseGiven,
  trx: Trx,
  { now, isFresh }: { now: number; isFresh: boolean },
): Promise<number> {
  const knows = isFresh && keepsIds(sources.program)
  return beginImport(trx, {
    program: sources.program.name,
    source: sources.source.label,
    is_fresh: isFresh,
    started_at: now,
    updated_at: now,
    known_users: knows ? log.users : 0,
    known_tokens: knows ? log.tokens : 0,
    known_channels: knows ? log.channels : 0,
  })
}

/**
 * Reserves the ids that occur in the log. Log rows may belong to accounts that no longer exist. If a new account got
 * the id of a deleted one, it would own the deleted account's rows.
 */
async function keepKnownIds(trx: Trx, { users, tokens, channels }: LogSums): Promise<void> {
  await reserveIds(trx, 'users', users)
  await reserveIds(trx, 'tokens', tokens)
  await reserveIds(trx, 'channels', channels)
}

async function copyParts({ wants }: BaseGiven, work: Work) {
  const { findings } = work
  const none = new Map<number, number>()
  const known = async (kind: ImportKind) =>
    new Map([...(await work.journal(kind))].map(([id, row]) => [Number(id), row.target_id]))
  const users = wants('users')
    ? await copyUsers(work)
    : { ids: await known('user'), groups: new Set<string>(), added: 0 }
  const tokens = wants('tokens') ? await copyTokens(work, users.ids) : { groups: new Set<string>(), added: 0 }
  const channels = wants('channels') ? await copyChannels(work) : { ids: none, drafts: [], added: 0 }
  const codes = wants('codes') ? await copyCodes(work, users.ids) : { added: 0 }
  const served = servedModels(channels.drafts)
  let options: OptionChange[] = []
  let prices: PriceRow[] = []
  if (wants('options')) {
    const read = await readOptions(work.source, work.program, findings)
    applyChannelPrices(read.options, channels.drafts, findings)
    const before = new Map(read.options)
    completePrices(read, work.program, served, findings)
    const channelGroups = channels.drafts.flatMap(({ fields }) => (fields.group ?? '').split(','))
    completeGroups(read.options, [...users.groups, ...tokens.groups, ...channelGroups], findings)
    prices = priceTable(read, work.program, before, served)
    options = await copyOptions(work, read.options)
  }
  return {
    added: { users: users.added, tokens: tokens.added, channels: channels.added, codes: codes.added },
    options,
    prices,
  }
}

/** The counts and totals of the source and of this installation, side by side. Throws if they differ. */
async function checkedSums({ wants, earlier }: BaseGiven, work: Work, there: ImportedSums): Promise<SumLine[]> {
  const { corrections, db, trx, importId } = work
  const planned = Object.fromEntries(
    Object.entries(there).map(([name, sum]) => [name, sum + corrections[name as keyof ImportedSums]]),
  ) as unknown as ImportedSums
  const here = trx && !earlier ? await importedSums(db, importId) : planned
  const parts: Readonly<Record<string, ImportPart>> = {
    user: 'users',
    requ: 'users',
    toke: 'tokens',
    chan: 'channels',
    code: 'codes',
  }
  const wanted = (name: string) => wants(parts[name.slice(0, 4)] ?? 'users')
  const select = (sums: ImportedSums) =>
    Object.fromEntries(
      Object.entries(sums).map(([name, sum]) => [name, wanted(name) ? sum : 0]),
    ) as unknown as ImportedSums
  const lines = sumLines(select(there), select(corrections), select(here))
  const wrong = unequal(lines)
  if (wrong.length > 0) {
    const [first] = wrong
    throw new ImportFailed(
      `The sums differ, so nothing was imported: ${first?.name} is ${first?.there} there, corrected by ${first?.corrected}, but ${first?.here} here. If the source is in use, stop its program and run the command again.`,
    )
  }
  return lines
}

async function finish(
  work: Work,
  trx: Trx,
  added: { users: number; tokens: number; channels: number; codes: number },
  { id, name, ip }: NonNullable<ImportDeps['actor']> = { id: 0, name: 'command line', ip: '' },
): Promise<void> {
  await updateImport(trx, work.importId, { updated_at: work.now })
  await recordAudit(trx, {
    created_at: work.now,
    actor_id: id,
    actor_name: name,
    action: 'import.run' satisfies AuditAction,
    target: `import ${work.importId}`,
    detail: `${work.program.title} at ${work.source.label}: ${JSON.stringify(added)}`,
    ip,
  })
}
