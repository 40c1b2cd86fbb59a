import type { Usage, usageApi } from '../../contract/api/usage.ts'
import type { CallInput } from './call.ts'

/** What is asked of the usage. */
export type UsageQuery = NonNullable<CallInput<typeof usageApi.read>['query']>

/** A usage; `fromRows` where the server could not tell and so many newest rows of its log were summed up here. */
export type KnownUsage = Usage & { fromRows?: number }
