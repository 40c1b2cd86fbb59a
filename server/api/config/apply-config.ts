import { isDeepStrictEqual } from 'node:util'
import type { ConfigChange, ConfigPlan } from '../../../contract/api/config.ts'
import { type ConfigFile, configSections } from '../../../contract/config-file.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { saveMarks } from '../../store/installation/config-marks.ts'
import type { Store, Trx } from '../../store/store.ts'
import { type Actor, auditEvent } from '../audit-event.ts'
import type { ConfigDeps } from '../config-kind.ts'
import { configKinds } from '../config-kinds.ts'

/** How a file is applied, and the person who applies it. */
export interface ApplyOptions {
  prune: boolean
  dryRun: boolean
  actor: Actor
  /** The name of the file, or of the endpoint to which it was sent. It is recorded as the source of the entries. */
  source: string
  /**
   * The changes that a person agreed to. If the file now requires other changes, PlanOutdated is thrown and nothing is
   * changed.
   */
  agreed?: readonly ConfigChange[]
  /** Runs at the start of the transaction. If it throws, the file is not applied. */
  admit?(trx: Trx): Promise<unknown>
}

/** Thrown if the installation has changed since the person agreed to the changes. */
class PlanOutdated extends Error {}

/** Thrown to roll back a transaction. */
class RolledBack extends Error {}

/**
 * Applies the file to the installation in one transaction. A dry run does the same and rolls back, so that it refuses
 * everything that a real run would refuse. Throws ConfigFault, PlanOutdated, or what `admit` throws.
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

/** The number of changes of each kind in each section, as text. */
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

/** Notifies every node of the changes. A node that misses a notice uses the changes later. */
async function announceAll({ notices }: Store): Promise<void> {
  for (const topic of ['settings', 'channels'] as const) await notices.publish({ topic, id: 0 }).catch(() => undefined)
}
