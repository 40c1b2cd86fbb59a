import { type Usage, usageApi } from '../../contract/api/usage.ts'
import { CallError, type CallInput, call } from './call.ts'

/** What is asked of the usage. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/** A usage; `fromRows` where the server could not tell and so many newest rows of its log were summed up here. */
export type KnownUsage = Usage & { fromRows?: number }

/** Reads what calls used. Failures are the caller's to show. */
export async function readUsage(query: UsageQuery, signal: AbortSignal): Promise<KnownUsage> {
  try {
    return await call(usageApi.read, { query }, { signal, quiet: true })
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 404) throw error
    const { usageFromLogs } = await import('./usage-from-logs.ts')
    return usageFromLogs(query)
  }
}
