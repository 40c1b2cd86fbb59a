import { api } from '../../../contract/api/index.ts'
import { maxUsageExport } from '../../../contract/api/usage-table.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { csvResponse } from '../../http/csv-response.ts'
import { listed } from '../../http/list-page.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { usageTable } from '../../store/usage/usage-table.ts'
import { auditEvent } from '../audit-event.ts'
import type { ApiDeps } from '../deps.ts'
import { createPerPerson } from '../per-person.ts'
import { usageCsv, usageFileName } from './export-usage.ts'
import { planTable } from './table-query.ts'
import { curvesOf, rowView } from './table-rows.ts'

const mostExports = 2

/** Endpoints that return usage as a table, either a page of it or a CSV file of all rows. */
export function mountUsageTable(
  router: ApiRouter,
  { store, clock, settings }: Pick<ApiDeps, 'store' | 'clock' | 'settings'>,
): void {
  const { read } = store
  const slots = createPerPerson(mostExports, 'exports')

  serve(router, api.usage.table, async ({ query, person, context }) => {
    const plan = await planTable(read, query, person, epochSeconds(clock))
    const page = { offset: query.p * query.size, limit: query.size }
    const rows = await usageTable(read, { ...plan.ask, ...page })
    // The number of all rows is part of each row. A page beyond the end has no rows, so the number is read from the
    // first row.
    const [any] =
      rows.length > 0 || page.offset === 0 ? rows : await usageTable(read, { ...plan.ask, offset: 0, limit: 1 })
    const curves = await curvesOf(read, plan, rows)
    const total = any?.matching ?? 0
    return listed(context, { rows: rows.map((row) => rowView(plan, row, curves.get(row.g))), total })
  })

  serve(router, api.usage.export, async (call) => {
    const { query, person } = call
    const plan = await planTable(read, query, person, epochSeconds(clock))
    const ended = slots.take(person.id)
    try {
      const name = usageFileName(plan)
      const rows = await usageTable(read, { ...plan.ask, offset: 0, limit: maxUsageExport + 1 })
      if (rows.length > maxUsageExport)
        throw new ApiFailure(
          `The file would have more than ${maxUsageExport} rows: choose a shorter range or a filter.`,
        )
      if (person.role >= roles.admin)
        await store.write((trx) => recordAudit(trx, auditEvent(clock, call, 'usage.export', 'usage', name)))
      const lines = usageCsv({ plan, rows, quotaPerUnit: settings.current().QuotaPerUnit })
      return csvResponse({ name, lines, what: 'usage', ended, warn: router.warn })
    } catch (error) {
      ended()
      throw error
    }
  })
}
