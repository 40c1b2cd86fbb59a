import type { CallerRow } from '../store/callers.ts'
import type { Channel } from './routing-table.ts'

/** Who calls: a token and its owner, with all checks passed that need no quota. */
export interface Caller extends CallerRow {
  /** Models the token may use; undefined = all. */
  allowedModels: ReadonlySet<string> | undefined
  /** The channel that an admin chose by `sk-…-<id>`. */
  chosenChannel: Channel | undefined
}
