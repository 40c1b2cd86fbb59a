import type { DialectName } from '../../dialects/neutral/conversation.ts'
import type { RequestAddress, RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { Feature } from '../../dialects/neutral/needs.ts'
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

/** A request to be read: its JSON text, which has been parsed before. */
export interface ReadJob {
  text: string
  dialect: Exclude<DialectName, 'openai-chat'>
  address: RequestAddress
}

/** Reads requests of many parts off the main thread, which would be held up by them. */
export interface AsideReader {
  /** Throws GatewayError (400) as reading the request here would. */
  read(job: ReadJob): Promise<KnownRequest>
  close(): void
}

/** What the address of a call says of the request. */
export function addressOf({ model, stream, countOnly }: CallRoute): RequestAddress {
  return {
    ...(model !== undefined && { model }),
    ...(stream !== undefined && { stream }),
    ...(countOnly && { countOnly: true }),
  }
}
