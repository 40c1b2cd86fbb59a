import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Redemption, type RedemptionBatch, redemptionApi } from '../../../contract/api/redemption.ts'
import { redemptionStatus } from '../../../contract/statuses.ts'
import { call, callFull } from '../../lib/call.ts'
import { listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import type { NewCodes, RedemptionValues } from './form-values.ts'

/** The redemption codes. */
export const redemptions = listSource<Redemption>('redemption', {
  list: redemptionApi.list,
  search: redemptionApi.search,
})

/** The batches of codes. A batch consists of the codes with the same name. */
export const batches = listSource<RedemptionBatch>('redemption-batch', {
  list: redemptionApi.batches,
  search: redemptionApi.batches,
})

async function refreshAll(): Promise<void> {
  await Promise.all([redemptions.refresh(), batches.refresh()])
}

/** Disables the unused codes of a batch, or enables the disabled ones; returns their number. */
export async function switchBatch(name: string, status: number): Promise<number> {
  const changed = await call(redemptionApi.switchBatch, { body: { name, status } })
  await refreshAll()
  return changed
}

/** Codes on one page of a sheet. */
export const sheetSize = 100

/** Unused codes of a batch, in the order in which they were made; `page` is from 1. */
export const sheetQuery = (batch: string, page: number) =>
  queryOptions({
    queryKey: ['redemption', 'sheet', batch, page],
    queryFn: async ({ signal }) => {
      const query = { batch, status: redemptionStatus.unused, p: page - 1, size: sheetSize, sort: 'id', order: 'asc' }
      const { data, total } = await callFull(redemptionApi.list, { query }, { signal, quiet: true })
      return { codes: data, total: total ?? data.length }
    },
    placeholderData: keepPreviousData,
    // Codes that were redeemed in the meantime must not be printed.
    staleTime: 0,
    gcTime: 0,
  })

/** One redemption code. */
export const redemptionQuery = (id: string) =>
  queryOptions({
    queryKey: ['redemption', 'one', id],
    queryFn: ({ signal }) => call(redemptionApi.get, { params: { id } }, { signal, quiet: true }),
  })

/** Makes a code redeemable (1) or disables it (2); its row shows the status that the server returns. */
export async function setRedemptionStatus(code: Redemption, status: number): Promise<void> {
  const body = { id: code.id, status }
  const changed = await call(redemptionApi.update, { query: { status_only: 'true' }, body })
  redemptions.patch(
    (row) => row.id === code.id,
    (row) => ({ ...row, status: changed?.status ?? status }),
  )
  void batches.refresh()
}

/** Deletes a code and reloads the list. */
export async function removeRedemption(code: Redemption): Promise<void> {
  await call(redemptionApi.remove, { params: { id: code.id } })
  await refreshAll()
}

/** Creates codes and returns them. */
export async function createCodes({ expired_time, prefix, ...values }: NewCodes): Promise<string[]> {
  // Expiry and prefix are sent only if they are set, because some servers do not support these fields.
  const body = { ...values, ...(expired_time > 0 && { expired_time }), ...(prefix !== '' && { prefix }) }
  const codes = await call(redemptionApi.create, { body })
  await refreshAll()
  return codes ?? []
}

/** Changes the name, quota and expiry of a code. */
export async function updateRedemption(id: number, values: RedemptionValues): Promise<void> {
  await call(redemptionApi.update, { query: {}, body: { id, ...values } })
  void queryClient.invalidateQueries({ queryKey: [batches.key] })
  queryClient.removeQueries({ queryKey: ['redemption', 'one', String(id)] })
  await redemptions.refresh()
}
