import * as z from 'zod/mini'
import { endpoint, idParams } from './endpoint.ts'
import { text, trimmedText } from './fields.ts'

/** The maximum number of models whose cost a channel can have. */
export const maxCostModels = 1000
/**
 * If a price from a feed differs from the old one by this factor or more, up or down, an admin must confirm it. The
 * first price of a model is compared with its built-in price.
 */
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
    z
      .number()
      .check(
        z.gte(0),
        z.lte(1000),
        z.describe(
          'Multiplier on the price of the model in this installation (without group ratios), in place of prices in dollars.',
        ),
      ),
  ),
})

export type ModelCost = z.output<typeof modelCostSchema>

export const costSources = ['manual', 'gateway', 'openrouter'] as const

const sourceSchema = z.object({
  kind: z
    .enum(costSources)
    .check(
      z.describe(
        'Where the prices came from. manual: entered by hand. gateway: the price list of another gateway (one-api and its forks). openrouter: the price list of OpenRouter.',
      ),
    ),
  url: trimmedText(500).check(z.describe('Where the prices came from; empty if they were entered by hand.')),
  time: z.int().check(z.describe('When the prices were saved, in epoch seconds.')),
})

/** A multiplier for the prices of the list. */
export const costMultiplier = z.number().check(z.gte(0), z.lte(1000))

/** What an upstream charges, by the model name that is sent to it. */
export const modelCostsField = z.record(z.string(), modelCostSchema).check(
  z.refine((value) => Object.keys(value as object).length <= maxCostModels, {
    error: 'may have at most 1000 entries',
  }),
  z.describe(
    'What the upstream charges, by the model name that is sent upstream. Kinds of tokens without a price here cost in proportion to the price of the model in this installation.',
  ),
)

export const channelCostsSchema = z.object({
  multiplier: z
    .nullable(costMultiplier)
    .check(
      z.describe(
        'Multiplier on the prices of this installation (without group ratios), for models that are not in `models`; null means that their cost is not known.',
      ),
    ),
  models: modelCostsField,
  source: z.nullable(sourceSchema).check(z.describe('Where the prices came from; null if there are none.')),
})

export type ChannelCosts = z.output<typeof channelCostsSchema>

export const feedKinds = ['gateway', 'openrouter'] as const

const feed = {
  kind: z.enum(feedKinds).check(z.describe('The format of the price list.')),
  url: z._default(
    trimmedText(500).check(
      z.describe(
        "The URL of the price list. Empty means the usual one: /api/pricing at the channel's base URL, or OpenRouter's list of models.",
      ),
    ),
    '',
  ),
  group: z._default(
    text(64).check(
      z.describe('For the list of a gateway: the group of that gateway whose ratio applies. Empty means `default`.'),
    ),
    '',
  ),
}

/** The longest time between two checks of a price list, in hours. */
export const longestFeedHours = 30 * 24

/** A request to read a price list on a schedule. */
export const feedInput = z.object({
  ...feed,
  every_hours: z
    .int()
    .check(z.gte(1), z.lte(longestFeedHours), z.describe('Hours from one check of the list to the next.')),
})

export type FeedInput = z.output<typeof feedInput>

/** A price list that is read on a schedule, with the results of its checks. */
export const priceFeedSchema = z.object({
  ...feed,
  every_hours: feedInput.shape.every_hours,
  checked_at: z.int().check(z.describe('When the list was last read, in epoch seconds; 0 means not yet.')),
  changed_at: z.int().check(z.describe('When a check last changed a price, in epoch seconds; 0 means never.')),
  error: z
    .string()
    .check(
      z.describe('Why the last check failed; empty if it did not. After a failed check, prices stay as they are.'),
    ),
  failed_at: z
    .int()
    .check(z.describe('When the checks began to fail, in epoch seconds; 0 if the last check succeeded.')),
  held: z
    .record(
      z.string(),
      z.object({
        cost: modelCostSchema.check(z.describe('The price in the list.')),
        usual: z.optional(
          modelCostSchema.check(
            z.describe('Only for the first price of a model: its built-in price, with which it was compared.'),
          ),
        ),
        since: z.int().check(z.describe('Epoch seconds.')),
      }),
    )
    .check(
      z.describe(
        'Prices that are not used until an admin confirms them, by model. A price is held if it is at least ten times the old price, or at most a tenth of it. The first price of a model is compared with its built-in price.',
      ),
    ),
})

export type PriceFeed = z.output<typeof priceFeedSchema>

/** The costs of a channel, with the price list that is read on a schedule. */
export const costsWithFeedSchema = z.extend(channelCostsSchema, {
  feed: z.nullable(priceFeedSchema).check(z.describe('The price list that is read on a schedule; null if none is.')),
})

export type CostsWithFeed = z.output<typeof costsWithFeedSchema>

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
          .check(
            z.describe(
              'new: the channel has no cost for the model yet. changed, same: the list has another cost or the same. missing: the list does not have the model. unreadable: the list has the model, but no price of a known kind.',
            ),
          ),
        old: z.nullable(modelCostSchema).check(z.describe('The cost that the channel has now.')),
        cost: z.nullable(modelCostSchema).check(z.describe('The cost in the list.')),
        usual: z
          .nullable(modelCostSchema)
          .check(
            z.describe(
              'The built-in price of the model, if the price is the first one of the model and differs too much from the built-in price; otherwise null.',
            ),
          ),
        factor: z
          .nullable(z.number())
          .check(z.describe('The largest new price divided by its old one, or by `usual`; null if there is neither.')),
        held: z.boolean().check(z.describe('True if the price must be confirmed before it is saved.')),
      }),
    )
    .check(z.describe("The channel's models, by the names that are sent upstream.")),
})

export type CostPreview = z.output<typeof costPreviewSchema>

/** The server must register these paths before `/api/channel/{id}`. */
export const channelCostsApi = {
  costs: endpoint({
    method: 'GET',
    path: '/api/channel/{id}/costs',
    access: 'admin',
    params: idParams,
    data: costsWithFeedSchema,
    summary: 'Get what the upstream of a channel charges',
  }),
  setCosts: endpoint({
    method: 'PUT',
    path: '/api/channel/{id}/costs',
    access: 'admin',
    params: idParams,
    body: z.object({
      multiplier: z
        .nullable(costMultiplier)
        .check(
          z.describe(
            'Multiplier on the prices of this installation (without group ratios), for models that are not in `models`; null means that their cost is not known.',
          ),
        ),
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
          .check(
            z.maxLength(maxCostModels),
            z.describe('Models whose prices are saved even if they would otherwise be held.'),
          ),
        [],
      ),
    }),
    data: z.object({
      costs: costsWithFeedSchema.check(z.describe('The costs that are stored now.')),
      held: z
        .array(z.string())
        .check(
          z.describe(
            'Models whose new price was not saved. They keep their old price, or have none, until the new one is confirmed.',
          ),
        ),
    }),
    summary: 'Set what the upstream of a channel charges; replaces everything that was set before',
    description:
      'If the prices come from a list (`source.kind` other than manual), a price that is ten times the old one or more, or a tenth or less, is not saved unless its model is in `confirmed`. A first price is compared with the built-in price of the model. The response names these models.',
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
  setFeed: endpoint({
    method: 'PUT',
    path: '/api/channel/{id}/costs/feed',
    access: 'admin',
    params: idParams,
    body: z.object({
      feed: z
        .nullable(feedInput)
        .check(z.describe('The price list and the schedule; null ends the reading of the list.')),
    }),
    data: costsWithFeedSchema,
    summary: "Read a channel's prices from a list on a schedule, or stop doing so",
    description:
      'The list is read within a minute, and then every `every_hours` hours by one of the servers, unless the option PriceSyncEnabled is off. Models that the list does not have keep their prices.',
  }),
  checkFeed: endpoint({
    method: 'POST',
    path: '/api/channel/{id}/costs/feed/check',
    access: 'admin',
    params: idParams,
    data: costsWithFeedSchema,
    summary: 'Read the scheduled price list of a channel now',
    description: 'If the list could not be read, `feed.error` says why.',
  }),
  decideHeld: endpoint({
    method: 'POST',
    path: '/api/channel/{id}/costs/held',
    access: 'admin',
    params: idParams,
    body: z.object({
      use: z
        ._default(z.array(text(200)).check(z.maxLength(maxCostModels)), [])
        .check(z.describe('Models whose held prices are used from now on, in place of the old ones.')),
      refuse: z
        ._default(z.array(text(200)).check(z.maxLength(maxCostModels)), [])
        .check(
          z.describe(
            'Models whose held prices are refused. They keep their old prices, or have none. If the list has the same price in a later check, it is ignored.',
          ),
        ),
    }),
    data: costsWithFeedSchema,
    summary: 'Use or refuse prices of the scheduled list that are held back',
  }),
}
