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
        'True if the environment variable LOG_SINK_URL sets where the copy is. The options for the copy then have no effect.',
      ),
    ),
  waiting_rows: count('Approximate number of log rows that wait to be copied.'),
  sent_rows: count('Number of log rows that were copied.'),
  sent_at: count('When rows were last copied, in epoch seconds; 0 = never.'),
  lost_rows: count('Number of log rows that were deleted before they were copied, so that the copy has gaps.'),
  lost_at: count('When rows were last lost, in epoch seconds; 0 = never.'),
  error: z.string().check(z.describe('A sentence that says why the last attempt failed; empty if it succeeded.')),
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
    summary: 'Test whether log rows can be copied to the configured place; no row is sent',
  }),
}
