import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

/** The unit that a price applies to. Speech is counted in characters, transcribed audio by its length. */
export const priceUnits = ['tokens', 'characters', 'image', 'hour'] as const

export type PriceUnit = (typeof priceUnits)[number]

const quota = (description: string) => z.number().check(z.describe(description))
const special = z.optional(quota('Where it differs from the plain tokens of its side.'))

export const ratesSchema = z.object({
  input: quota(
    'Quota units for a million prompt tokens or a million characters, for one image of the smallest size, or for an hour of sound.',
  ),
  output: quota('Quota units for a million completion tokens; 0 where there are none, or they cost nothing.'),
  cached_input: special,
  cache_write: special,
  cache_write_1h: special,
  image_input: special,
  audio_input: special,
  cached_audio_input: z.optional(
    quota('Where it differs from the plain tokens, or from cached ones if sound costs what text does.'),
  ),
  reasoning: special,
  image_output: special,
  audio_output: special,
})

export type Rates = z.output<typeof ratesSchema>

/** Kinds of tokens that may have a separate price, different from the plain input or output price. */
export type SpecialRate = Exclude<keyof Rates, 'input' | 'output'>

export const priceSchema = z.object({
  unit: z.enum(priceUnits),
  rates: ratesSchema,
  tiers: z
    .array(z.object({ above: quota('Prompt tokens.'), rates: ratesSchema }))
    .check(z.describe('Rates of the whole call once its prompt is longer; smallest threshold first.')),
  call: quota('Quota units for each call, on top.'),
  minimum_seconds: quota('Sound that is shorter is charged as this many seconds; 0 = as it is.'),
})

export type Price = z.output<typeof priceSchema>

export const pricedModelSchema = z.object({
  model: z.string(),
  prices: z
    .array(priceSchema)
    .check(
      z.describe(
        'Several where channels that serve it cost differently, the one first at which 10,000 tokens in and 1,000 out cost least; none = it has no price, and calls are refused.',
      ),
    ),
  unpriced: z.boolean().check(z.describe('A channel that serves it has no price for it, and is passed over.')),
  renamed: z
    .boolean()
    .check(z.describe('A channel sends it upstream under another name, which is the one in the logs.')),
})

export type PricedModel = z.output<typeof pricedModelSchema>

export const priceApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/price/',
    access: 'user',
    query: z.object({
      group: z.optional(
        z.string().check(z.maxLength(64), z.describe("Another group than the caller's own; for admins.")),
      ),
    }),
    data: z.object({
      group: z.string(),
      ratio: z.number().check(z.describe("The group's multiplier; the prices have it in them already.")),
      models: z.array(pricedModelSchema),
    }),
    summary: 'The models that a group can use, with what they cost now',
    description: 'A call that asks for a service tier costs the price times the ratio of the tier.',
  }),
}

/** The price list of a group. */
export type PriceList = z.output<typeof priceApi.list.data>
