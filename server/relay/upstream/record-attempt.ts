import type { Recording } from '../../captures/recording.ts'
import { recordedBody } from '../call/recorded-body.ts'
import { isChat } from './call-endpoint.ts'
import type { Attempting, Prepared } from './prepare.ts'

/** Records the body that is sent to a channel. The function returned records the response, and passes it on. */
export function recordAttempt(
  recording: Recording,
  { call, channel, endpoint }: Attempting,
  { body }: Prepared,
): ((response: Response) => Response) | undefined {
  const { id, name, upstream } = channel
  const dialect = isChat(endpoint) ? endpoint.dialect.name : ''
  return recording.attempt({ id, name, key: upstream.key }, dialect, recordedBody(call.state.body, body))
}
