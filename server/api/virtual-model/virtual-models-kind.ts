import { mostVirtualModels, virtualModelBody } from '../../../contract/api/virtual-model.ts'
import type { VirtualModelEntry } from '../../../contract/config-file.ts'
import { epochSeconds } from '../../lib/clock.ts'
import {
  addVirtualModel,
  deleteVirtualModel,
  lockVirtualModels,
  updateVirtualModel,
  type VirtualModelRow,
  virtualModelRows,
  virtualParts,
} from '../../store/channels/virtual-models.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import { type ConfigKind, differences, EntryFault, type PlanContext, type PlannedChange } from '../config-kind.ts'
import { planByName } from '../plan-by-name.ts'
import { allTexts, checkName, checkPrice, checkSteps, refuseCircle, steppingOf } from './check-virtual-model.ts'

/** The section `virtual_models` of a config file. Fields that an entry omits get their defaults. */
export const virtualModelsKind: ConfigKind<'virtual_models'> = {
  section: 'virtual_models',
  names: (wanted) => wanted.map(({ name }) => name),

  async plan(trx, wanted, context) {
    const existing = await lockVirtualModels(trx)
    const listed = new Set(wanted.map(({ name }) => name))
    // The check for cycles uses the state after all changes, so their order does not matter.
    const others = context.prune ? [] : existing.filter(({ name }) => !listed.has(name))
    const all = [...others.map(steppingOf), ...wanted]
    return planByName(
      {
        section: 'virtual_models',
        ...{ wanted, existing },
        nameOf: ({ name }) => name,
        planEntry(entry, row) {
          checkName(entry.name, [])
          checkSteps(entry.steps)
          checkPrice(entry.price)
          refuseCircle(all, entry.name)
          if (all.length > mostVirtualModels)
            throw new EntryFault(`there can be at most ${mostVirtualModels} virtual models.`)
          return planOf(entry, row, context)
        },
        removal: (row) => removal(row, context),
      },
      context,
    )
  },

  async export(db) {
    const rows = await virtualModelRows(db)
    const entries = rows.sort((a, b) => (a.name < b.name ? -1 : 1)).map((row) => withoutDefaults(entryOf(row)))
    return entries.length === 0 ? undefined : (entries as VirtualModelEntry[])
  },
}

function planOf(
  entry: VirtualModelEntry,
  row: VirtualModelRow | undefined,
  { deps, actor }: PlanContext,
): PlannedChange | undefined {
  const now = epochSeconds(deps.clock)
  const { name, description, enabled, stream_rescue } = entry
  const stored = { name, description, enabled, stream_rescue, ...allTexts(entry) }
  const columns = { ...stored, updated_time: now }
  // The entry as an export would return it. It can differ from `entry`, because failures are stored in a fixed order.
  const after = entryOf(stored)
  const audited = (trx: Trx, action: 'virtual-model.create' | 'virtual-model.update', id: number) =>
    recordAudit(trx, auditEvent(deps.clock, actor, action, `virtual model ${id}`, name))
  if (!row)
    return {
      op: 'add',
      name,
      fields: differences({}, withoutDefaults(after)),
      async make(trx) {
        const added = await addVirtualModel(trx, { ...columns, created_time: now })
        await audited(trx, 'virtual-model.create', Number(added.id))
      },
    }
  const fields = differences(entryOf(row), after)
  if (fields.length === 0) return undefined
  return {
    op: 'change',
    name,
    fields,
    async make(trx) {
      await updateVirtualModel(trx, Number(row.id), columns)
      await audited(trx, 'virtual-model.update', Number(row.id))
    },
  }
}

function removal({ id, name }: VirtualModelRow, { deps, actor }: PlanContext): PlannedChange {
  return {
    op: 'remove',
    name,
    fields: [],
    async make(trx) {
      await deleteVirtualModel(trx, Number(id))
      await recordAudit(trx, auditEvent(deps.clock, actor, 'virtual-model.delete', `virtual model ${id}`, name))
    },
  }
}

/** A virtual model as an entry of a config file, with all fields. */
function entryOf(row: Omit<VirtualModelRow, 'id' | 'created_time' | 'updated_time'>): Record<string, unknown> {
  const { name, description, enabled, stream_rescue } = row
  return {
    name,
    description,
    ...virtualParts(row),
    enabled: Boolean(enabled),
    stream_rescue: stream_rescue === null ? null : Boolean(stream_rescue),
  }
}

/** Removes the fields that have their defaults from an entry and from its steps. */
function withoutDefaults(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const usual = virtualModelBody.parse({ name: entry['name'], steps: entry['steps'] })
  const steps = usual.steps.map(({ model, group, weight, first_token_timeout }) => ({
    model,
    ...(group !== '' && { group }),
    ...(weight > 0 && { weight }),
    ...(first_token_timeout > 0 && { first_token_timeout }),
  }))
  const kept = Object.entries(entry).filter(
    ([field, value]) =>
      ['name', 'steps'].includes(field) || JSON.stringify(value) !== JSON.stringify(usual[field as keyof typeof usual]),
  )
  return { ...Object.fromEntries(kept), steps }
}
