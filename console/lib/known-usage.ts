import type { Usage, usageApi } from '../../contract/api/usage.ts'
import type { CallInput } from './call.ts'

/** The parameters of a usage request. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/**
 * The result of a usage request. If the server has no usage endpoint, the browser sums the newest log rows instead, and
 * `fromRows` is the number of these rows.
 */
export type KnownUsage = Usage & { fromRows?: number }
