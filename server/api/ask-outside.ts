import { ApiFailure } from '../http/api-failure.ts'
import { messageOf } from '../lib/message-of.ts'
import { OutboundError } from '../outbound/call-json.ts'

/**
 * Waits for a call to an external service. If the call fails, throws an ApiFailure with its message. If the service was
 * unavailable, the cause is also written to the operator's log.
 */
export async function askOutside<T>(warn: (message: string) => void, asking: Promise<T>): Promise<T> {
  try {
    return await asking
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    if (error.kind === 'unavailable') {
      warn(`${error.message} (${messageOf(error.cause)})`)
    }
    throw new ApiFailure(error.message)
  }
}
