import type { RecordedBody } from '../../captures/recording.ts'
import { JsonBytes } from '../../lib/json-bytes.ts'
import type { CallBody } from './call.ts'

/**
 * A body for a recording. Only the fields of a form are recorded, because files can be large and are not text. `sent`
 * is the body that was sent to a channel; '' = the caller's body was sent unchanged.
 */
export function recordedBody(body: CallBody, sent: unknown): RecordedBody {
  if (body.kind === 'form') return { fields: body.form.fields, size: body.form.length }
  if (sent instanceof JsonBytes) return sent.text
  return typeof sent === 'string' && sent !== '' ? sent : body.text
}
