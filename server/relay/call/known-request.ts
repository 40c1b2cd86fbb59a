import type { DialectName } from '../../dialects/neutral/conversation.ts'
import type { RequestAddress, RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { Feature } from '../../dialects/neutral/needs.ts'
import type { CallRoute } from './call-routes.ts'

/** What is known about a conversation once it has been read. */
export interface KnownRequest {
  facts: RequestFacts
  /** Prompt tokens, by the quick estimate. */
  promptGuess: number
  /** Features that a service must support to serve the request. */
  needs: ReadonlySet<Feature>
  /** True if the conversation references files by URLs, which some services do not open. */
  namesFiles: boolean
}

/** A request to be read, as JSON text that has already been parsed once. */
export interface ReadJob {
  text: string
  dialect: Exclude<DialectName, 'openai-chat'>
  address: RequestAddress
}

/** Reads requests with many parts in another thread, because they would block the main thread. */
export interface AsideReader {
  /** Throws the same GatewayError (400) as when the request is read on the main thread. */
  read(job: ReadJob): Promise<KnownRequest>
  close(): void
}

const nothing: RequestAddress = {}

/** What the URL of a call specifies about the request. */
export function addressOf({ model, stream, countOnly }: CallRoute): RequestAddress {
  if (model === undefined && stream === undefined && !countOnly) return nothing
  return {
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...(countOnly && { countOnly: true }),
  }
}
