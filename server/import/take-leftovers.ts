import type { AuditAction } from '../../contract/audit-actions.ts'
import { isOptionKey } from '../../contract/options.ts'
import type { ImportDeps } from '../jobs/import-engine.ts'
import { isObject, tryParse } from '../lib/json.ts'
import { parseOption } from '../settings/parse-option.ts'
import { storedOption } from '../settings/secret-options.ts'
import { recordAudit } from '../store/installation/audit.ts'
import { optionRows, saveOption } from '../store/installation/options.ts'
import type { Trx } from '../store/store.ts'
import type { Leftover } from './findings.ts'
import { ImportFailed } from './import-failed.ts'

/** The result of importing a leftovers file. */
export interface TakenLeftovers {
  /** The names of options that were imported. */
  taken: string[]
  /** The names of options that were not imported because they have been set since the import. */
  set: string[]
  /** Leftovers that this version does not support. */
  left: { kind: string; count: number }[]
}

/**
 * Imports leftovers of an earlier import that this version of Tollgate supports. All are imported in one transaction.
 * Only leftovers of the kind `option` are supported. To support another kind, add a function to `takers`. Throws
 * ImportFailed, and changes nothing, if the file is not a leftovers file.
 */
export async function takeLeftovers(
  deps: Pick<ImportDeps, 'store' | 'secrets' | 'nowMs'>,
  lines: AsyncIterable<string>,
  dryRun: boolean,
): Promise<TakenLeftovers> {
  const leftovers = await read(lines)
  const { store } = deps
  const report = await store.write((trx) => take(deps, trx, leftovers, dryRun))
  if (!dryRun && report.taken.length > 0) await store.notices.publish({ topic: 'settings', id: 0 })
  return report
}

async function read(lines: AsyncIterable<string>): Promise<Leftover[]> {
  const leftovers: Leftover[] = []
  let number = 0
  for await (const line of lines) {
    number++
    if (line === '') continue
    const parsed = tryParse(line)
    if (!isObject(parsed) || typeof parsed['kind'] !== 'string' || typeof parsed['id'] !== 'string')
      throw new ImportFailed(
        `Line ${number} is not a leftover of an import. Give a leftovers file that an import wrote.`,
      )
    leftovers.push(parsed as unknown as Leftover)
  }
  return leftovers
}

/**
 * What happened to a leftover. `unknown`: this version does not support it. `set`: it was not imported because the
 * option has been set since the import.
 */
type Fate = 'taken' | 'set' | 'unknown'

async function take(
  { secrets, nowMs }: Pick<ImportDeps, 'secrets' | 'nowMs'>,
  trx: Trx,
  leftovers: readonly Leftover[],
  dryRun: boolean,
): Promise<TakenLeftovers> {
  const here = new Set((await optionRows(trx)).map(({ key }) => key))
  const takers: Readonly<Record<string, (leftover: Leftover) => Promise<Fate>>> = {
    async option({ data }) {
      const { key, value } = isObject(data) ? data : {}
      if (typeof key !== 'string' || typeof value !== 'string' || !isOptionKey(key) || !isValid(key, value))
        return 'unknown'
      if (here.has(key)) return 'set'
      here.add(key)
      const row = storedOption(secrets, key, value)
      if (!dryRun) await saveOption(trx, key, row.value, row.sealed)
      return 'taken'
    },
  }
  const report: TakenLeftovers = { taken: [], set: [], left: [] }
  const left = new Map<string, number>()
  for (const leftover of leftovers) {
    const fate = (await takers[leftover.kind]?.(leftover)) ?? 'unknown'
    if (fate === 'unknown') {
      const kind = leftover.kind === 'table' ? `table ${leftover.id.split(' ')[0]}` : leftover.kind
      left.set(kind, (left.get(kind) ?? 0) + 1)
    } else report[fate].push(`${leftover.kind} ${leftover.id}`)
  }
  report.left = [...left].map(([kind, count]) => ({ kind, count }))
  if (!dryRun && report.taken.length > 0)
    await recordAudit(trx, {
      created_at: Math.floor(nowMs() / 1000),
      actor_id: 0,
      actor_name: 'command line',
      action: 'import.run' satisfies AuditAction,
      target: 'leftovers',
      detail: report.taken.join(', '),
      ip: '',
    })
  return report
}

function isValid(key: Parameters<typeof parseOption>[0], value: string): boolean {
  try {
    parseOption(key, value)
    return true
  } catch {
    return false
  }
}
