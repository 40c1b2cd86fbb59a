import type { Usage, usageApi } from '../../contract/api/usage.ts'
import type { CallInput } from './call.ts'

/** The parameters of a usage request. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/**
 * A usage. `fromRows` is set if the server could not report it and this many of the newest log rows were summed here.
 */
export type KnownUsage = Usage & { fromRows?: number }
