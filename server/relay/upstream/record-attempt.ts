import type { Recording } from '../../captures/recording.ts'
import { SoundResponse } from '../../dialects/gemini/speech.ts'
import { recordedBody } from '../call/recorded-body.ts'
import { isChat } from './call-endpoint.ts'
import type { Attempting, Prepared } from './prepare.ts'

/** Records the body that is sent to a channel. Returns a function that records the response and passes it on. */
export function recordAttempt(
  recording: Recording,
  { call, channel, endpoint }: Attempting,
  { body }: Prepared,
): ((response: Response) => Response) | undefined {
  const { id, name, upstream } = channel
  const dialect = isChat(endpoint) ? endpoint.dialect.name : ''
  const recorded = recording.attempt({ id, name, key: upstream.key }, dialect, recordedBody(call.state.body, body))
  return recorded && ((response) => withUsage(recorded(response), response))
}

/** Adds the usage of the original response to the recorded response. The usage is not part of the bytes. */
function withUsage(recorded: Response, original: Response): Response {
  return original instanceof SoundResponse ? new SoundResponse(recorded.body, original.usage) : recorded
}
