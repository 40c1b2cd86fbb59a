import { api } from '../../../contract/api/index.ts'
import { mostVirtualModels, type VirtualModel, type VirtualWarning } from '../../../contract/api/virtual-model.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import {
  addVirtualModel,
  deleteVirtualModel,
  lockVirtualModels,
  updateVirtualModel,
  type VirtualModelRow,
  virtualModelRows,
  virtualParts,
  virtualTexts,
} from '../../store/channels/virtual-models.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent, describeChange, describeFields } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { allTexts, checkName, checkPrice, checkSteps, refuseCircle, steppingOf } from './check-virtual-model.ts'

type VirtualDeps = Pick<ApiDeps, 'store' | 'clock' | 'virtualWarnings' | 'dryRun'> & { announce: Announce }

/** The columns whose values the audit log shows. */
const shown = ['name', 'steps', 'failures', 'price', 'groups', 'enabled', 'stream_rescue'] as const

/** Endpoints for virtual models. A change is announced to the nodes under the same topic as a change to a channel. */
export function mountVirtualModels(router: ApiRouter, deps: VirtualDeps): void {
  const { store, clock, announce, virtualWarnings } = deps
  const view = (row: VirtualModelRow) => viewOf(row, virtualWarnings(row.name))

  serve(router, api.virtualModel.list, async () => (await virtualModelRows(store.read)).map(view))

  serve(router, api.virtualModel.create, async (call) => {
    const row = await store.write(async (trx) => {
      await call.admitAgain(trx)
      const others = await lockVirtualModels(trx)
      if (others.length >= mostVirtualModels)
        throw new ApiFailure(`There are ${mostVirtualModels} virtual models already. Delete one first.`)
      const { name, description, enabled, stream_rescue } = call.body
      checkName(name, others)
      checkSteps(call.body.steps)
      checkPrice(call.body.price)
      refuseCircle([...others.map(steppingOf), call.body], name)
      const now = epochSeconds(clock)
      const columns = { name, description, enabled, stream_rescue, ...allTexts(call.body) }
      const added = await addVirtualModel(trx, { ...columns, created_time: now, updated_time: now })
      const detail = describeFields(columns, shown)
      await recordAudit(trx, auditEvent(clock, call, 'virtual-model.create', `virtual model ${added.id}`, detail))
      return added
    })
    await announce({ topic: 'channels', id: 0 })
    return view(row)
  })

  serve(router, api.virtualModel.update, async (call) => {
    const { id, steps, failures, price, groups, ...plain } = call.body
    const row = await store.write(async (trx) => {
      await call.admitAgain(trx)
      const all = await lockVirtualModels(trx)
      const before = all.find((each) => Number(each.id) === id)
      if (!before) throw missing()
      const others = all.filter((each) => each !== before)
      if (plain.name !== undefined) checkName(plain.name, others)
      if (steps) checkSteps(steps)
      if (price !== undefined) checkPrice(price)
      const changed = { name: plain.name ?? before.name, steps: steps ?? virtualParts(before).steps }
      refuseCircle([...others.map(steppingOf), changed], changed.name)
      const columns = {
        ...plain,
        ...virtualTexts({
          ...(steps && { steps }),
          ...(failures && { failures }),
          ...(price !== undefined && { price }),
          ...(groups && { groups }),
        }),
      }
      const after = await updateVirtualModel(trx, id, { ...columns, updated_time: epochSeconds(clock) })
      const detail = describeChange({ ...before }, columns, shown)
      await recordAudit(trx, auditEvent(clock, call, 'virtual-model.update', `virtual model ${id}`, detail))
      return after
    })
    await announce({ topic: 'channels', id: 0 })
    return view(row)
  })

  serve(router, api.virtualModel.dryRun, async ({ body }) => {
    const { draft } = body
    if (draft) {
      checkName(draft.name, [])
      checkSteps(draft.steps)
      checkPrice(draft.price)
      const others = (await virtualModelRows(store.read)).filter(({ name }) => name !== draft.name)
      refuseCircle([...others.map(steppingOf), draft], draft.name)
    } else if (body.model === '') throw new ApiFailure('Enter a model.')
    return deps.dryRun(body)
  })

  serve(router, api.virtualModel.remove, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      await call.admitAgain(trx)
      const deleted = await deleteVirtualModel(trx, id)
      if (!deleted) throw missing()
      await recordAudit(trx, auditEvent(clock, call, 'virtual-model.delete', `virtual model ${id}`, deleted.name))
    })
    await announce({ topic: 'channels', id: 0 })
  })
}

function missing(): ApiFailure {
  return new ApiFailure('This virtual model does not exist.')
}

function viewOf(row: VirtualModelRow, warnings: VirtualWarning[]): VirtualModel {
  return {
    id: Number(row.id),
    name: row.name,
    description: row.description,
    ...virtualParts(row),
    enabled: Boolean(row.enabled),
    stream_rescue: row.stream_rescue === null ? null : Boolean(row.stream_rescue),
    warnings,
    created_time: Number(row.created_time),
    updated_time: Number(row.updated_time),
  }
}
