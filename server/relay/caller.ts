import type { CallLimits } from '../billing/limits.ts'
import type { CallerRow } from '../store/callers.ts'
import type { Channel } from './routing-table.ts'

/** Who calls: a token and its owner, with all checks passed that need no quota. */
export interface Caller extends CallerRow {
  /** Models the token may use; undefined = all. */
  allowedModels: ReadonlySet<string> | undefined
  /** The limits in force for this call; undefined = none. */
  limits: CallLimits | undefined
  /** The channel that an admin chose by `sk-…-<id>`. */
  chosenChannel: Channel | undefined
}
