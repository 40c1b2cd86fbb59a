import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { mailField } from './fields.ts'

/** One option as the console receives it: its entry in `contract/options.ts`, including who may write it. */
export const optionDefinitionSchema = z.object({
  key: z.string(),
  /** `json` is the text of a JSON object, `list` a comma-separated list. */
  kind: z.enum(['boolean', 'integer', 'number', 'text', 'list', 'json', 'choice']),
  /** The stored form, which is text for every kind. */
  default: z.string(),
  min: z.optional(z.number()),
  max: z.optional(z.number()),
  choices: z.optional(z.array(z.string())),
  unit: z.optional(z.string()),
  /** True if the option can be written but its value is never shown. */
  secret: z.boolean(),
  /** For secrets only: whether the option has a value. */
  is_set: z.optional(z.boolean()),
  /** The lowest role that may write the option. */
  writer: z.enum(['admin', 'root']),
  /** The option's section on the settings page, with the section's heading and tab. */
  section: z.string(),
  section_title: z.string(),
  tab: z.enum(['operations', 'system', 'other']),
  description: z.string(),
})

export type OptionDefinitionEntry = z.output<typeof optionDefinitionSchema>

/** What a model costs now. The ratios correspond to the options of the same name. */
export const modelPriceSchema = z.object({
  model: z.string().check(z.describe('Name of the model as it is sent upstream.')),
  channels: z.int().check(z.describe('Number of channels that serve the model.')),
  ratio: z
    .number()
    .check(z.describe('Price of a prompt token, as a ratio (1 = one quota unit per token); 0 if there is no price.')),
  completion_ratio: z.number(),
  default_ratio: z.number().check(z.describe('The ratio of the built-in price; 0 if there is no built-in price.')),
  default_completion_ratio: z.number(),
  source: z
    .enum(['option', 'default', 'call', 'none'])
    .check(
      z.describe(
        'Where the price comes from: an option, or the built-in prices (default). call: the model has a price per call instead of a ratio. none: it has no price.',
      ),
    ),
})

export type ModelPriceEntry = z.output<typeof modelPriceSchema>

export const optionApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/option/',
    access: 'admin',
    data: z.array(z.object({ key: z.string(), value: z.string() })),
    summary: 'List all options except secrets, as text',
  }),
  definitions: endpoint({
    method: 'GET',
    path: '/api/option/definitions',
    access: 'admin',
    data: z.array(optionDefinitionSchema),
    summary:
      'List the definition of every option: type, default, limits, unit, section, what it does and who may change it',
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
          z.describe(
            'The value as text, whatever the kind of the option: "true", "2", or the text of a JSON object. A JSON number, true or false is also accepted.',
          ),
        ),
    }),
    summary: 'Change one option; some options can be changed only by root',
  }),
  prices: endpoint({
    method: 'GET',
    path: '/api/option/prices',
    access: 'admin',
    data: z.array(modelPriceSchema),
    summary: 'Get the current prices of the models of all channels, and of the models in the option ModelRatio',
  }),
  latestRelease: endpoint({
    method: 'GET',
    path: '/api/option/latest_release',
    access: 'admin',
    data: z.object({
      version: z.string().check(z.describe('Version of this server.')),
      tag_name: z.string().check(z.describe('Tag of the latest release.')),
      body: z.string().check(z.describe('Release notes in Markdown; must be sanitised before they are shown.')),
    }),
    summary: 'Get the latest release, as reported by the URL in the option UpdateFeedURL',
  }),
  testMail: endpoint({
    method: 'POST',
    path: '/api/option/test_mail',
    access: 'root',
    body: z.object({
      email: z.nullish(
        z.union([z.literal(''), mailField]).check(z.describe("The recipient; the caller's own address by default.")),
      ),
    }),
    summary: "Send a test email with the saved settings; if this fails, `message` contains the mail server's response",
  }),
}
