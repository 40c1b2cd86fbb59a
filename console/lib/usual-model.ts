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
 * Models that a call can be charged for: those with a price, which admins are told; for others those that their newest
 * calls were charged for. Empty where nothing is known.
 */
const chargeableQuery = (admin: boolean) =>
  queryOptions({
    queryKey: ['chargeable-models', admin],
    queryFn: async ({ signal }) => {
      // It is for a good beginning alone: who waits longer begins with another model.
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
 * The model to begin with: the first to talk to whose calls can be charged, else the first to talk to, else the first.
 * `isLoading`: another may follow. Nothing is asked for while the models are undefined.
 */
export function useUsualModel(models: readonly string[] | undefined): {
  model: string | undefined
  isLoading: boolean
} {
  // A server of fewer calls tells nobody its prices.
  const classic = useClassicServer()
  const admin = isAdmin(useSessionUser()) && !classic
  const chargeable = useQuery({ ...chargeableQuery(admin), enabled: models !== undefined })
  const talking = models?.filter(isChatModel) ?? []
  const model = talking.find((each) => chargeable.data?.has(each)) ?? talking[0] ?? models?.[0]
  return { model, isLoading: chargeable.isLoading }
}
