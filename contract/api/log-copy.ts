import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

const count = (description: string) => z.int().check(z.describe(description))

/** The progress of copying the log to a second database. */
export const logCopySchema = z.object({
  name: z.string().check(z.describe('Where the copy is, without credentials; empty if the log is not copied.')),
  set_by_environment: z
    .boolean()
    .check(
      z.describe(
        'True if the environment variable LOG_SINK_URL determines where the copy is, so that the options have no effect.',
      ),
    ),
  waiting_rows: count('Approximate number of log rows that wait to be copied.'),
  sent_rows: count('Log rows that were copied.'),
  sent_at: count('Epoch seconds at which rows were copied last; 0 = never.'),
  lost_rows: count('Log rows that were deleted before they were copied: the copy has a gap.'),
  lost_at: count('Epoch seconds of the last gap; 0 = none.'),
  error: z.string().check(z.describe('Why the last attempt failed: a sentence; empty if it did not.')),
  error_code: z.optional(z.string().check(z.describe('The code of the sentence, if it has one.'))),
  error_values: z.optional(z.record(z.string(), z.string()).check(z.describe('The values of the sentence.'))),
  failed_at: count('Epoch seconds of the last failure; 0 = never.'),
})

export type LogCopyView = z.output<typeof logCopySchema>

export const logCopyApi = {
  state: endpoint({
    method: 'GET',
    path: '/api/log_copy/',
    access: 'root',
    data: logCopySchema,
    summary: 'Get the progress of the copy of the log',
  }),
  test: endpoint({
    method: 'POST',
    path: '/api/log_copy/test',
    access: 'root',
    summary: 'Test whether log rows can be stored in the configured place. No row is sent',
  }),
}
