import { queryOptions, useQuery } from '@tanstack/react-query'
import { logApi } from '../../contract/api/log.ts'
import { optionApi } from '../../contract/api/option.ts'
import { logType } from '../../contract/log-types.ts'
import { isChatModel } from '../../contract/model-kinds.ts'
import { call } from './call.ts'
import { isAdmin, useSessionUser } from './session.ts'
import { useClassicServer } from './status.ts'

const patienceMs = 2000

/**
 * Models whose calls can be charged. For administrators, these are the models with a price. For other users, these are
 * the models of their most recent charged calls. Empty if nothing is known.
 */
const chargeableQuery = (admin: boolean) =>
  queryOptions({
    queryKey: ['chargeable-models', admin],
    queryFn: async ({ signal }) => {
      // These requests only improve the choice of the default model. If they take too long, another model is chosen.
      const soon = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
      const names = await (admin ? pricedModels(soon) : chargedModels(soon)).catch(() => [])
      return new Set(names)
    },
  })

async function pricedModels(signal: AbortSignal): Promise<string[]> {
  const prices = await call(optionApi.prices, {}, { signal, quiet: true })
  return prices.filter(({ source }) => source !== 'none').map(({ model }) => model)
}

async function chargedModels(signal: AbortSignal): Promise<string[]> {
  const query = { p: 0, size: newestCalls, type: logType.consume }
  return (await call(logApi.self, { query }, { signal, quiet: true })).map(({ model_name }) => model_name)
}

const newestCalls = 20

/**
 * The default model: the first chat model whose calls can be charged, otherwise the first chat model, otherwise the
 * first model. While `isLoading` is true, the default may still change. Nothing is requested while `models` is
 * undefined.
 */
export function useUsualModel(models: readonly string[] | undefined): {
  model: string | undefined
  isLoading: boolean
} {
  // A server that has only one-api's endpoints does not show its prices to anyone.
  const classic = useClassicServer()
  const admin = isAdmin(useSessionUser()) && !classic
  const chargeable = useQuery({ ...chargeableQuery(admin), enabled: models !== undefined })
  const talking = models?.filter(isChatModel) ?? []
  const model = talking.find((each) => chargeable.data?.has(each)) ?? talking[0] ?? models?.[0]
  return { model, isLoading: chargeable.isLoading }
}
