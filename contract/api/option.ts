import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'

/**
 * One option: its entry in the table of `contract/options.ts` as the console receives it, including who may write it.
 */
export const optionDefinitionSchema = z.object({
  key: z.string(),
  /** `json` is the text of a JSON object, `list` a comma-separated list. */
  kind: z.enum(['boolean', 'integer', 'number', 'text', 'list', 'json', 'choice']),
  /** The stored form: text, whatever the kind. */
  default: z.string(),
  min: z.optional(z.number()),
  max: z.optional(z.number()),
  choices: z.optional(z.array(z.string())),
  unit: z.optional(z.string()),
  /** The option can be written, but its value is never shown. */
  secret: z.boolean(),
  /** For secrets only: whether the option has a value. */
  is_set: z.optional(z.boolean()),
  /** The lowest role that may write the option. */
  writer: z.enum(['admin', 'root']),
  /** The option's section on the settings page, the heading of that section, and the tab that it is on. */
  section: z.string(),
  section_title: z.string(),
  tab: z.enum(['operations', 'system', 'other']),
  description: z.string(),
})

export type OptionDefinitionEntry = z.output<typeof optionDefinitionSchema>

/** What a model costs now. The ratios correspond to the options of the same name. */
export const modelPriceSchema = z.object({
  model: z.string().check(z.describe('As it is sent upstream.')),
  channels: z.int().check(z.describe('How many channels serve it.')),
  ratio: z.number().check(z.describe('Of a prompt token; 0 when there is no price.')),
  completion_ratio: z.number(),
  default_ratio: z.number().check(z.describe('As without any option; 0 when there is no built-in price.')),
  default_completion_ratio: z.number(),
  source: z
    .enum(['option', 'default', 'call', 'none'])
    .check(z.describe('Where the ratio comes from; call = it has a price per call instead.')),
})

export type ModelPriceEntry = z.output<typeof modelPriceSchema>

export const optionApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/option/',
    access: 'admin',
    data: z.array(z.object({ key: z.string(), value: z.string() })),
    summary: 'All options but secrets, as text',
  }),
  definitions: endpoint({
    method: 'GET',
    path: '/api/option/definitions',
    access: 'admin',
    data: z.array(optionDefinitionSchema),
    summary: 'Every option: type, default, limits, unit, section, what it does and who may write it',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/option/',
    access: 'admin',
    badBodyStatus: 400,
    body: z.object({
      key: z.string().check(z.maxLength(100)),
      value: z
        .union([z.number(), z.boolean(), z.string()])
        .check(
          z.describe('Text, whatever the kind: "true", "2", the text of a JSON object; or a number, true or false.'),
        ),
    }),
    summary: 'Change one option; some only root may change',
  }),
  prices: endpoint({
    method: 'GET',
    path: '/api/option/prices',
    access: 'admin',
    data: z.array(modelPriceSchema),
    summary: 'What the models of all channels, and those that ModelRatio names, cost now',
  }),
  latestRelease: endpoint({
    method: 'GET',
    path: '/api/option/latest_release',
    access: 'admin',
    data: z.object({
      version: z.string().check(z.describe('Of this server.')),
      tag_name: z.string().check(z.describe('Of the latest release.')),
      body: z.string().check(z.describe('Its notes, Markdown; to be cleaned before they are shown.')),
    }),
    summary: 'Ask UpdateFeedURL for the latest release',
  }),
  testMail: endpoint({
    method: 'POST',
    path: '/api/option/test_mail',
    access: 'root',
    body: z.object({
      email: z.nullish(
        z.union([z.literal(''), mailField]).check(z.describe("Without one the mail goes to the caller's own address.")),
      ),
    }),
    summary: 'Send a mail with the saved settings; a failure says what the mail server said',
  }),
}
