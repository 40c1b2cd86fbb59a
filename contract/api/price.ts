import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** The unit that a price applies to. Speech is counted in characters, transcribed audio by its length. */
export const priceUnits = ['tokens', 'characters', 'image', 'hour'] as const

export type PriceUnit = (typeof priceUnits)[number]

const quota = (description: string) => z.number().check(z.describe(description))
const special = z.optional(
  quota(
    'Quota units for a million tokens of this kind. Absent if the rate is that of plain tokens on the same side (input or output).',
  ),
)

export const ratesSchema = z.object({
  input: quota(
    'Quota units for a million prompt tokens or a million characters, for one image of the smallest size, or for an hour of audio.',
  ),
  output: quota('Quota units for a million completion tokens; 0 if there are none or they cost nothing.'),
  cached_input: special,
  cache_write: special,
  cache_write_1h: special,
  image_input: special,
  audio_input: special,
  cached_audio_input: z.optional(
    quota(
      'Set if it differs from the rate of plain tokens, or from that of cached tokens if audio costs as much as text.',
    ),
  ),
  reasoning: special,
  image_output: special,
  audio_output: special,
})

export type Rates = z.output<typeof ratesSchema>

/** Kinds of tokens that may have a separate price, other than the plain input or output price. */
export type SpecialRate = Exclude<keyof Rates, 'input' | 'output'>

export const priceSchema = z.object({
  unit: z.enum(priceUnits),
  rates: ratesSchema,
  tiers: z
    .array(
      z.object({
        above: quota('The threshold: these rates apply to prompts with more tokens than this.'),
        rates: ratesSchema,
      }),
    )
    .check(
      z.describe(
        'Rates for calls with long prompts, smallest threshold (`above`) first. They apply to the whole call.',
      ),
    ),
  call: quota('Additional quota units for each call.'),
  minimum_seconds: quota(
    'Minimum length of audio, in seconds: shorter audio is charged as if it had this length; 0 means no minimum.',
  ),
})

export type Price = z.output<typeof priceSchema>

export const pricedModelSchema = z.object({
  model: z.string(),
  prices: z
    .array(priceSchema)
    .check(
      z.describe(
        'The prices of the model; several if the channels that serve it have different prices. The first is the one at which 10,000 input tokens and 1,000 output tokens cost least. If the list is empty, the model has no price and calls to it are refused.',
      ),
    ),
  unpriced: z
    .boolean()
    .check(
      z.describe(
        'True if there is a channel that serves the model but has no price for it. Such channels are skipped.',
      ),
    ),
  renamed: z
    .boolean()
    .check(
      z.describe('True if a channel sends another model name upstream. The logs then show the name that was sent.'),
    ),
  answered_by: z.optional(
    z
      .array(z.string())
      .check(
        z.describe(
          'For a virtual model: the models that may answer, in order. A call costs the price of the model that answers, unless the virtual model has a price of its own.',
        ),
      ),
  ),
})

export type PricedModel = z.output<typeof pricedModelSchema>

export const priceApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/price/',
    access: 'user',
    query: z.object({
      group: z.optional(
        z.string().check(z.maxLength(64), z.describe("A group other than the caller's own; only for admins.")),
      ),
    }),
    data: z.object({
      group: z.string(),
      ratio: z.number().check(z.describe("The group's multiplier, which is already included in the prices.")),
      models: z.array(pricedModelSchema),
    }),
    summary: 'List the models that a group can use, with their current prices',
    description: 'If a call requests a service tier, its price is multiplied by the ratio of the tier.',
  }),
}

/** The price list of a group. */
export type PriceList = z.output<typeof priceApi.list.data>
