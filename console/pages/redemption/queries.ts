import { queryOptions } from '@tanstack/react-query'
import { type Redemption, redemptionApi } from '../../../contract/api/redemption.ts'
import { call } from '../../lib/call.ts'
import { listSource } from '../../lib/list-source.ts'
import { queryClient } from '../../lib/query-client.ts'
import type { NewCodes, RedemptionValues } from './form-values.ts'

/** The redemption codes. */
export const redemptions = listSource<Redemption>('redemption', {
  list: redemptionApi.list,
  search: redemptionApi.search,
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
}

/** Deletes a code and reloads the list. */
export async function removeRedemption(code: Redemption): Promise<void> {
  await call(redemptionApi.remove, { params: { id: code.id } })
  await redemptions.refresh()
}

/** Creates codes and returns them. */
export async function createCodes(values: NewCodes): Promise<string[]> {
  const codes = await call(redemptionApi.create, { body: values })
  await redemptions.refresh()
  return codes ?? []
}

/** Changes the name and quota of a code. */
export async function updateRedemption(id: number, values: RedemptionValues): Promise<void> {
  await call(redemptionApi.update, { query: {}, body: { id, ...values } })
  queryClient.removeQueries({ queryKey: ['redemption', 'one', String(id)] })
  await redemptions.refresh()
}
