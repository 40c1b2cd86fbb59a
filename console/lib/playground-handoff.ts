import type { CapturedTurn } from '../../contract/api/capture.ts'
import type { CallParameters } from '../../contract/api/log-request.ts'

/** A request to open in the playground: its model, its parameters and, if it was recorded, its conversation. */
export interface Handoff {
  model: string
  parameters: CallParameters
  conversation?: {
    turns: readonly CapturedTurn[]
    /**
     * The body of the request as the client sent it. Empty if the body was not recorded completely, or is not in the
     * format of chat completions.
     */
    body: string
  }
}

// Kept only in memory, because recorded content must not get into a URL or the browser's storage.
let waiting: Handoff | undefined

/** Passes a request to the playground in this tab. A link must then open the playground. */
export function handToPlayground(handoff: Handoff): void {
  waiting = handoff
}

/** The request that is waiting for the playground, if it is for this model. */
export function waitingHandoff(model: string | undefined): Handoff | undefined {
  return waiting?.model === model ? waiting : undefined
}

/** Forgets the waiting request. */
export function forgetHandoff(): void {
  waiting = undefined
}

/** Whether a click on a link opens it in this tab. */
export function staysInTab(event: { button: number; ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): boolean {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey
}
