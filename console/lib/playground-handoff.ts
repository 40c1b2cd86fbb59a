import type { CapturedTurn } from '../../contract/api/capture.ts'
import type { CallParameters } from '../../contract/api/log-request.ts'

/** A request that the playground opens: its model and parameters and, if it was recorded, its conversation. */
export interface Handoff {
  model: string
  parameters: CallParameters
  conversation?: {
    turns: readonly CapturedTurn[]
    /** The body as its caller sent it; '' if it was not kept as a whole or is in another format than chat completions. */
    body: string
  }
}

// In memory only: what was recorded must not get into an address or the browser's storage.
let waiting: Handoff | undefined

/** Hands a request to the playground of this tab, which a link then opens. */
export function handToPlayground(handoff: Handoff): void {
  waiting = handoff
}

/** The request that waits for the playground, if it is for this model. */
export function waitingHandoff(model: string | undefined): Handoff | undefined {
  return waiting?.model === model ? waiting : undefined
}

/** Forgets the request that waits. */
export function forgetHandoff(): void {
  waiting = undefined
}

/** Whether a click opens its link in this tab. */
export function staysInTab(event: { button: number; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): boolean {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
}
