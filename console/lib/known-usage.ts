import type { Usage, usageApi } from '../../contract/api/usage.ts'
import type { CallInput } from './call.ts'

/** The parameters of a usage request. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/**
 * Usage of calls. `fromRows` is set if the server could not report the usage; it is the number of newest log rows that
 * were summed in the browser.
 */
export type KnownUsage = Usage & { fromRows?: number }
