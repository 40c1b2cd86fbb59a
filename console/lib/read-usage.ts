import { usageApi } from '../../contract/api/usage.ts'
import { CallError, call } from './call.ts'
import type { KnownUsage, UsageQuery } from './known-usage.ts'

/** Reads the usage of calls. The caller must show failures. */
export async function readUsage(query: UsageQuery, signal: AbortSignal): Promise<KnownUsage> {
  try {
    return await call(usageApi.read, { query }, { signal, quiet: true })
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 404) throw error
    const { usageFromLogs } = await import('./usage-from-logs.ts')
    return usageFromLogs(query)
  }
}
