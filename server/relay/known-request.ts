import type { RequestAddress, RequestFacts } from '../dialects/dialect.ts'
import type { Feature } from '../dialects/needs.ts'
import type { CallRoute } from './call-routes.ts'

/** What reading a conversation has told. */
export interface KnownRequest {
  facts: RequestFacts
  /** Prompt tokens by the quick estimate. */
  promptGuess: number
  /** What a service must be able to do. */
  needs: ReadonlySet<Feature>
  /** It names files by addresses that some services do not open. */
  namesFiles: boolean
}

/** What the address of a call says of the request. */
export function addressOf({ model, stream, countOnly }: CallRoute): RequestAddress {
  return {
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...(countOnly && { countOnly: true }),
  }
}
