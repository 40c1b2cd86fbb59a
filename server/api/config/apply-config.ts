import { isDeepStrictEqual } from 'node:util'
import type { ConfigChange, ConfigPlan } from '../../../contract/api/config.ts'
import { type ConfigFile, configSections } from '../../../contract/config-file.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { saveMarks } from '../../store/installation/config-marks.ts'
import type { Store, Trx } from '../../store/store.ts'
import { type Actor, auditEvent } from '../audit-event.ts'
import type { ConfigDeps } from '../config-kind.ts'
import { configKinds } from '../config-kinds.ts'

/** How a file is applied, and by whom. */
export interface ApplyOptions {
  prune: boolean
  dryRun: boolean
  actor: Actor
  /** What the entries of the file are marked with. */
  source: string
  /** The changes that somebody agreed to. If others became necessary, nothing is changed. */
  agreed?: readonly ConfigChange[]
  /** Runs first in the transaction; throws to refuse. */
  admit?(trx: Trx): Promise<unknown>
}

/** The installation is no longer what it was when somebody agreed to the changes. */
class PlanOutdated extends Error {}

/** Ends a transaction without changing anything. */
class RolledBack extends Error {}

/**
 * Makes the installation what the file says, in one transaction. A dry run does the same and rolls back, so that it
 * refuses everything that a real run would. Throws ConfigFault, PlanOutdated, or what `admit` throws.
 */
export async function applyConfig(
  { store, ...deps }: ConfigDeps & { store: Store },
  file: ConfigFile,
  options: ApplyOptions,
): Promise<ConfigPlan> {
  let plan: ConfigPlan | undefined
  try {
    await store.write(async (trx) => {
      await options.admit?.(trx)
      plan = await applied(trx, deps, file, options)
      if (options.dryRun) throw new RolledBack()
      if (options.agreed && !isDeepStrictEqual(plan.changes, options.agreed))
        throw new PlanOutdated('The installation was changed in the meantime. Nothing was applied: run apply again.')
    })
  } catch (error) {
    if (!(error instanceof RolledBack) || !plan) throw error
  }
  if (!plan) throw new Error('the transaction did not run')
  if (plan.applied) await announceAll(store)
  return plan
}

async function applied(trx: Trx, deps: ConfigDeps, file: ConfigFile, options: ApplyOptions): Promise<ConfigPlan> {
  const { actor, prune, source, dryRun } = options
  const changes: ConfigChange[] = []
  const unlisted: ConfigPlan['unlisted'] = []
  for (const kind of configKinds) {
    const { section } = kind
    const wanted = file[section]
    if (wanted !== undefined) {
      const plan = await kind.plan(trx, wanted, { deps, actor, prune })
      for (const { make, ...change } of plan.changes) {
        changes.push({ ...change, section })
        await make(trx)
      }
      await plan.finish?.(trx)
      unlisted.push(...(prune ? [] : plan.unlisted).map((name) => ({ section, name })))
    }
    await saveMarks(trx, { section, source, names: wanted === undefined ? [] : kind.names(wanted) })
  }
  if (changes.length > 0) {
    const detail = `${source}: ${countsOf(changes)}`
    await recordAudit(trx, auditEvent(deps.clock, actor, 'config.apply', 'configuration', detail))
  }
  return { changes, unlisted, applied: !dryRun && changes.length > 0 }
}

/** How many of each kind of change there are in each section. */
function countsOf(changes: readonly ConfigChange[]): string {
  return configSections
    .flatMap((section) => {
      const own = changes.filter((change) => change.section === section)
      if (own.length === 0) return []
      const count = (op: ConfigChange['op']) => own.filter((change) => change.op === op).length
      return [`${section} +${count('add')} ~${count('change')} -${count('remove')}`]
    })
    .join(', ')
}

/** Tells every node. A notice that is lost only delays the change. */
async function announceAll({ notices }: Store): Promise<void> {
  for (const topic of ['settings', 'channels'] as const) await notices.publish({ topic, id: 0 }).catch(() => undefined)
}
