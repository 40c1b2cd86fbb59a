import type { RecordedRequest } from './recorded-request.ts'
import type { Behaviour, Exchange } from './types.ts'

/** How a connection reports to its upstream. */
export interface ServerHooks {
  /** Headers have arrived: record the request and watch its caller. */
  begin(exchange: Exchange, callerLeft: AbortSignal): void
  /** A behaviour that does not wait for the body, if the script has one. */
  chooseAtHead(request: RecordedRequest): Behaviour | undefined
  choose(request: RecordedRequest): Behaviour
  /** Runs the behaviour and waits until the exchange is over. */
  run(chosen: Behaviour, exchange: Exchange, over: Promise<void>): Promise<void>
  /** The exchange is over, however it ended. */
  finish(exchange: Exchange): void
}
