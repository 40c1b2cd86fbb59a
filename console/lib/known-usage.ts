import type { Usage, usageApi } from '../../contract/api/usage.ts'
import type { CallInput } from './call.ts'

/** The parameters of a usage request. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/**
 * Usage of calls. If the server could not report the usage, the newest log rows were summed in the browser, and
 * `fromRows` is their number.
 */
export type KnownUsage = Usage & { fromRows?: number }
