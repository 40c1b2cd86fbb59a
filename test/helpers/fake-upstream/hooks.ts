import type { RecordedRequest } from './recorded-request.ts'
import type { Behaviour, Exchange } from './types.ts'

/** The functions that a connection calls to report to its upstream. */
export interface ServerHooks {
  /** Called when the headers have arrived: records the request and watches its caller. */
  begin(exchange: Exchange, callerLeft: AbortSignal): void
  /** Returns a behaviour that does not wait for the body, if the script has one. */
  chooseAtHead(request: RecordedRequest): Behaviour | undefined
  choose(request: RecordedRequest): Behaviour
  /** Runs the behaviour and waits until the exchange is over. */
  run(chosen: Behaviour, exchange: Exchange, over: Promise<void>): Promise<void>
  /** Called when the exchange is over, however it ended. */
  finish(exchange: Exchange): void
}
