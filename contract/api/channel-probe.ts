import * as z from 'zod/mini'
import { probedCarries } from './channel-carries.ts'
import { endpoint } from './endpoint.ts'
import { idField, text, trimmedText } from './fields.ts'

/**
 * The fields of a channel that determine where and how it sends a call. The same validation rules apply when a channel
 * is saved.
 */
export const probeBody = z.object({
  id: z.optional(
    idField.check(
      z.describe(
        'Id of a saved channel. If `key` is empty, the key of this channel is used, unless saving the same fields for this channel would require the key.',
      ),
    ),
  ),
  type: z.int().check(z.gte(1), z.lte(1_000_000), z.describe('Number of the type in the catalogue of channel types.')),
  key: z._default(
    z.string().check(z.maxLength(200_000), z.describe('The key. If it has several lines, the first is tested.')),
    '',
  ),
  base_url: z._default(trimmedText(500), ''),
  other: z._default(text(500), ''),
  config: z._default(z.string().check(z.maxLength(20_000), z.describe('Text of a JSON object.')), ''),
  models: z._default(
    z
      .string()
      .check(
        z.maxLength(100_000),
        z.describe('Comma-separated models. One of them is tested; if the text is empty, a model of the channel type.'),
      ),
    '',
  ),
  model_mapping: z._default(z.string().check(z.maxLength(100_000), z.describe('Text of a JSON object.')), ''),
  ...probedCarries,
})

/** The result of testing a channel that has not been saved. */
export const probeReportSchema = z.object({
  ok: z.boolean().check(z.describe('True if the test request was answered.')),
  time: z.number().check(z.describe('Duration of the test request in seconds.')),
  model: z.string().check(z.describe('The tested model.')),
  message: z.string().check(z.describe('Why the test failed; empty if it passed.')),
  models: z.array(z.string()).check(z.describe('The models that the upstream lists, sorted; may be empty.')),
  models_message: z.string().check(z.describe('Why the models could not be listed; empty if they were.')),
})

export type ProbeReport = z.output<typeof probeReportSchema>

export const channelProbeApi = {
  probe: endpoint({
    method: 'POST',
    path: '/api/channel/probe',
    access: 'admin',
    body: probeBody,
    data: probeReportSchema,
    summary: 'Test a channel that is not saved, and list the models of its upstream; nothing is stored',
    description:
      'One small request is sent to the upstream, as in a test of a saved channel. A user may have two of these tests running at a time.',
  }),
}
