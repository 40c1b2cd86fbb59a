import * as z from 'zod/mini'
import { endpoint, idParams } from './endpoint.ts'
import { text, trimmedText } from './fields.ts'

/** The maximum number of models whose cost a channel can have. */
export const maxCostModels = 1000
/** A price from a feed that is this many times the old one, or the old one divided by it, has to be confirmed. */
export const heldFactor = 10

const dollars = (description: string) =>
  z.optional(z.number().check(z.gte(0), z.lte(1_000_000), z.describe(description)))

/** What an upstream charges for a model. */
export const modelCostSchema = z.strictObject({
  input: dollars('Dollars for a million prompt tokens.'),
  output: dollars('Dollars for a million completion tokens.'),
  cached: dollars('Dollars for a million prompt tokens that were read from the cache.'),
  cache_write: dollars('Dollars for a million prompt tokens that were written to the cache.'),
  request: dollars('Dollars for each request, or for each image of a model that is priced by the image.'),
  multiplier: z.optional(
    z.number().check(z.gte(0), z.lte(1000), z.describe('Multiplier on the price list, instead of prices.')),
  ),
})

export type ModelCost = z.output<typeof modelCostSchema>

export const costSources = ['manual', 'gateway', 'openrouter'] as const

const sourceSchema = z.object({
  kind: z
    .enum(costSources)
    .check(z.describe('manual, the price list of a gateway (one-api and its relatives), or that of OpenRouter.')),
  url: trimmedText(500).check(z.describe('Where the prices came from; empty if they were entered by hand.')),
  time: z.int().check(z.describe('When they were saved, in epoch seconds.')),
})

/** A multiplier on the price list. */
export const costMultiplier = z.number().check(z.gte(0), z.lte(1000))

/** What an upstream charges, by the name that is sent to it. */
export const modelCostsField = z.record(z.string(), modelCostSchema).check(
  z.refine((value) => Object.keys(value as object).length <= maxCostModels, {
    error: 'may have at most 1000 entries',
  }),
  z.describe(
    'By the name that is sent upstream. Prices that a model does not name keep their proportion to the price list.',
  ),
)

export const channelCostsSchema = z.object({
  multiplier: z
    .nullable(costMultiplier)
    .check(z.describe('Multiplier on the price list, for models that are not listed; null means unknown.')),
  models: modelCostsField,
  source: z.nullable(sourceSchema).check(z.describe('Where the prices came from; null if there are none.')),
})

export type ChannelCosts = z.output<typeof channelCostsSchema>

const feed = {
  kind: z.enum(['gateway', 'openrouter']).check(z.describe('The format of the price list.')),
  url: z._default(
    trimmedText(500).check(
      z.describe(
        "The URL of the price list. Empty means the usual one: /api/pricing at the channel's base URL, or OpenRouter's list of models.",
      ),
    ),
    '',
  ),
  group: z._default(
    text(64).check(z.describe('For a gateway: the group whose ratio applies. Empty means `default`.')),
    '',
  ),
}

export const costChanges = ['new', 'changed', 'same', 'missing', 'unreadable'] as const

export const costPreviewSchema = z.object({
  url: z.string().check(z.describe('The URL that was read.')),
  groups: z.array(z.string()).check(z.describe('The groups that the list names.')),
  listed: z.int().check(z.describe('Number of models in the list.')),
  rows: z
    .array(
      z.object({
        model: z.string(),
        change: z
          .enum(costChanges)
          .check(z.describe('missing: the list does not have the model; unreadable: it has no price of a known kind.')),
        old: z.nullable(modelCostSchema).check(z.describe('What the channel has now.')),
        cost: z.nullable(modelCostSchema).check(z.describe('What the list has.')),
        factor: z
          .nullable(z.number())
          .check(z.describe('The largest new price divided by its old one; null if there is none.')),
        held: z.boolean().check(z.describe('The price has to be confirmed before it is saved.')),
      }),
    )
    .check(z.describe("The channel's models, by the names that are sent upstream.")),
})

export type CostPreview = z.output<typeof costPreviewSchema>

/** These paths must be served before `/api/channel/{id}`. */
export const channelCostsApi = {
  costs: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/costs',
    access: 'admin',
    params: idParams,
    data: channelCostsSchema,
    summary: 'Get what the upstream of a channel charges',
  }),
  setCosts: endpoint({
    method: 'PUT',
    path: '/api/channel/{id}/costs',
    access: 'admin',
    params: idParams,
    body: z.object({
      multiplier: z.nullable(costMultiplier).check(z.describe('Multiplier on the price list; null means unknown.')),
      models: modelCostsField,
      source: z._default(
        z
          .object({ kind: sourceSchema.shape.kind, url: z._default(trimmedText(500), '') })
          .check(z.describe('Where the prices came from.')),
        { kind: 'manual', url: '' },
      ),
      confirmed: z._default(
        z
          .array(text(200))
          .check(z.maxLength(maxCostModels), z.describe('Models whose held prices are to be saved anyway.')),
        [],
      ),
    }),
    data: z.object({
      costs: channelCostsSchema.check(z.describe('What is stored now.')),
      held: z.array(z.string()).check(z.describe('Models that keep their old price until the new one is confirmed.')),
    }),
    summary: 'Set what the upstream of a channel charges; replaces everything that was set before',
    description:
      'If the prices come from a list (`source.kind` other than manual), a price that is ten times the old one or more, or a tenth or less, is not saved unless its model is in `confirmed`. The response names these models.',
  }),
  previewCosts: endpoint({
    method: 'POST',
    path: '/api/channel/{id}/costs/preview',
    access: 'admin',
    params: idParams,
    body: z.object(feed),
    data: costPreviewSchema,
    summary: "Read a price list from another gateway or from OpenRouter and compare it with the channel's costs",
    description:
      'Nothing is saved. The list is read without the key of the channel, and through its proxy if it has one.',
  }),
}
