import * as z from 'zod/mini'
import { destinationKindNames } from './alert-destinations.ts'
import { createAlertRuleBody } from './api/alert.ts'
import { channelConfigSchema, createChannelBody } from './api/channel.ts'
import { writtenCarries } from './api/channel-carries.ts'
import { costMultiplier, feedInput, modelCostsField } from './api/channel-costs.ts'
import { channelLimitsField } from './api/channel-limits.ts'
import { maxKeys } from './api/channel-operations.ts'
import { maxQuota, text, trimmedText } from './api/fields.ts'
import { mostVirtualModels, virtualModelBody } from './api/virtual-model.ts'
import { channelOrders } from './channel-orders.ts'
import type { LimitField } from './limits.ts'
import type { OptionDefinition } from './option-kinds.ts'
import { type OptionKey, optionDefinitions } from './options.ts'

/** The version of the format that this version of Tollgate reads and writes. */
export const configVersion = 1

/** The maximum size of a configuration file. */
export const maxConfigBytes = 4 * 1024 * 1024

/** The maximum number of entries in a section. Checking more would keep the server busy for seconds. */
const mostEntries = 5000

/**
 * A secret: either a text, in which `${NAME}` is replaced by that environment variable, or the path of a file that
 * contains it.
 */
const secretText = z
  .union([z.strictObject({ file: z.string().check(z.minLength(1), z.maxLength(4096)) }), z.string()])
  .check(
    z.describe(
      'The secret itself, a text with references to variables of the environment, or the path of a file that contains it. References work on the command line only.',
    ),
  )

export type SecretText = z.output<typeof secretText>

const secretTextOf = (most: number) =>
  secretText.check(
    z.refine((value) => typeof value !== 'string' || value.length <= most, {
      error: `may have at most ${most} characters`,
    }),
  )

/** A name that the database stores in a comma-separated list, so it must not contain a comma. */
const listed = (most: number) =>
  trimmedText(most).check(z.minLength(1), z.regex(/^[^,]*$/, { error: 'must not contain a comma' }))

const name = (most: number) => trimmedText(most).check(z.minLength(1), z.describe('Identifies the entry.'))

const { weight, priority, base_url, other, system_prompt, draining } = createChannelBody.shape

export const channelEntry = z.strictObject({
  name: name(100),
  type: z
    .union([z.int().check(z.positive(), z.lte(1_000_000)), z.string()])
    .check(z.describe('Name of the type, such as openai, or its number.')),
  key: z.optional(secretTextOf(200_000)),
  keys: z.optional(
    z
      .array(secretTextOf(20_000))
      .check(z.minLength(1), z.maxLength(maxKeys), z.describe('Several keys that are used in turn, instead of `key`.')),
  ),
  enabled: z.optional(
    z
      .boolean()
      .check(
        z.describe(
          'False if the channel is switched off. If absent, a new channel is enabled and an existing one stays as it is.',
        ),
      ),
  ),
  draining,
  models: z.array(listed(500)).check(z.minLength(1), z.maxLength(mostEntries)),
  groups: z.optional(z.array(listed(64)).check(z.minLength(1), z.maxLength(200), z.describe('Default: [default].'))),
  weight,
  priority,
  base_url,
  other,
  model_mapping: z.optional(
    z.record(z.string(), z.string()).check(z.describe('Requested model → model that is sent upstream.')),
  ),
  config: z.optional(channelConfigSchema),
  system_prompt,
  limits: z.optional(channelLimitsField),
  ...writtenCarries,
  headers: z.optional(
    z
      .record(z.string(), secretTextOf(2000))
      .check(
        z.describe(
          'Headers added to every request. An empty value of a secret header, or a missing proxy_login, keeps the stored one.',
        ),
      ),
  ),
  proxy_login: z.optional(secretTextOf(500)),
})

export type ChannelEntry = z.output<typeof channelEntry>

export const channelCostsEntry = z.strictObject({
  multiplier: z.optional(
    costMultiplier.check(z.describe('Multiplier on the price list, for models that are not listed.')),
  ),
  models: z.optional(modelCostsField),
})

export type ChannelCostsEntry = z.output<typeof channelCostsEntry>

export const priceFeedEntry = z.strictObject({
  kind: feedInput.shape.kind,
  url: z.optional(
    secretTextOf(500).check(
      z.describe(
        "The URL of the price list. An empty text means the usual one: /api/pricing at the channel's base URL, or OpenRouter's list of models. If absent, the stored one is kept.",
      ),
    ),
  ),
  group: z.optional(
    text(64).check(z.describe('For a gateway: the group whose ratio applies. If absent, it is `default`.')),
  ),
  every_hours: feedInput.shape.every_hours,
})

export type PriceFeedEntry = z.output<typeof priceFeedEntry>

/** The columns of the section `groups`, and the options in which they are stored. */
export const groupColumns = {
  ratio: 'GroupRatio',
  limits: 'GroupLimits',
  channel_order: 'GroupChannelOrder',
} as const satisfies Record<string, OptionKey>

/** The columns of the section `prices`, and the options in which they are stored. */
export const priceColumns = {
  ratio: 'ModelRatio',
  completion_ratio: 'CompletionRatio',
  cache_ratio: 'CacheRatio',
  create_cache_ratio: 'CreateCacheRatio',
  audio_ratio: 'AudioRatio',
  audio_completion_ratio: 'AudioCompletionRatio',
  image_ratio: 'ImageRatio',
  price: 'ModelPrice',
} as const satisfies Record<string, OptionKey>

/** Sections whose entries are single numbers, and the options in which they are stored. */
export const numberSections = {
  tool_prices: 'ToolPrice',
  service_tiers: 'ServiceTierRatio',
} as const satisfies Record<string, OptionKey>

const ratio = (key: OptionKey) =>
  z.number().check(z.gte(0), z.lte(1_000_000), z.describe(optionDefinitions[key].description))

const atMost = z.refine((value) => Object.keys(value as object).length <= mostEntries, {
  error: `may have at most ${mostEntries} entries`,
})

const limit = z.optional(z.int().check(z.gte(0), z.lte(maxQuota)))

const groupEntry = z.strictObject({
  ratio: z._default(ratio('GroupRatio'), 1),
  limits: z.optional(
    z.strictObject({
      rpm_limit: limit,
      tpm_limit: limit,
      concurrency_limit: limit,
      daily_budget: limit,
      monthly_budget: limit,
    } satisfies Record<LimitField, unknown>),
  ),
  channel_order: z.optional(z.enum(channelOrders)),
})

const priceEntry = z.strictObject(
  Object.fromEntries(Object.entries(priceColumns).map(([column, key]) => [column, z.optional(ratio(key))])) as Record<
    keyof typeof priceColumns,
    z.ZodMiniOptional<z.ZodMiniNumber>
  >,
)

/** Options that belong to other sections of the file. */
const ownedElsewhere: ReadonlySet<string> = new Set<string>([
  ...Object.values(groupColumns),
  ...Object.values(priceColumns),
  ...Object.values(numberSections),
])

/** The options that the section `options` may list. */
export const configOptionKeys = (Object.keys(optionDefinitions) as OptionKey[]).filter(
  (key) => !ownedElsewhere.has(key),
)

function optionValue({ kind, choices, secret, min, max, description }: OptionDefinition): z.ZodMiniType {
  const range = [...(min === undefined ? [] : [z.gte(min)]), ...(max === undefined ? [] : [z.lte(max)])]
  const about = z.describe(description)
  if (secret) return secretTextOf(20_000).check(about)
  if (kind === 'boolean') return z.boolean().check(about)
  if (kind === 'integer') return z.int().check(...range, about)
  if (kind === 'number') return z.number().check(...range, about)
  if (kind === 'choice') return z.enum([...(choices ?? [])] as [string, ...string[]]).check(about)
  if (kind === 'list') return z.array(listed(1000)).check(about)
  if (kind === 'json') return z.record(z.string(), z.unknown()).check(about)
  return z.string().check(z.maxLength(500_000), about)
}

const optionsEntry = z.strictObject(
  Object.fromEntries(configOptionKeys.map((key) => [key, z.optional(optionValue(optionDefinitions[key]))])),
)

const { channel_id: _channel, destinations: _destinations, ...ruleShape } = createAlertRuleBody.shape

export const alertRuleEntry = z.strictObject({
  ...ruleShape,
  channel: z.optional(trimmedText(100).check(z.describe('Name of the channel to which the rule is restricted.'))),
  destinations: z.optional(z.array(text(60)).check(z.maxLength(5), z.describe('Names of the destinations.'))),
})

export type AlertRuleEntry = z.output<typeof alertRuleEntry>

/** A part of the address of a destination. Each part can contain a secret. */
const addressPart = (most: number) => z.optional(secretTextOf(most))

export const alertDestinationEntry = z.strictObject({
  name: name(60),
  kind: z.enum(destinationKindNames).check(z.describe('The service to which alerts are sent.')),
  url: addressPart(1000),
  token: addressPart(300),
  secret: addressPart(300),
  to: addressPart(254),
})

export type AlertDestinationEntry = z.output<typeof alertDestinationEntry>

/** The same fields as for creating a virtual model through the API. */
export const virtualModelEntry = z.strictObject(virtualModelBody.shape)

export type VirtualModelEntry = z.output<typeof virtualModelEntry>

/** A configuration file. Applying it changes nothing in the areas whose sections are absent. */
export const configFileSchema = z.strictObject({
  version: z.literal(configVersion).check(z.describe('Version of the format.')),
  options: z.optional(optionsEntry.check(z.describe('Options of the installation by their names.'))),
  groups: z.optional(z.record(listed(64), groupEntry).check(atMost, z.describe('Groups of users by name.'))),
  prices: z.optional(z.record(name(200), priceEntry).check(atMost, z.describe('Prices of models by name.'))),
  tool_prices: z.optional(z.record(name(200), ratio('ToolPrice')).check(atMost)),
  service_tiers: z.optional(z.record(name(200), ratio('ServiceTierRatio')).check(atMost)),
  channels: z.optional(z.array(channelEntry).check(z.maxLength(mostEntries))),
  price_feeds: z.optional(
    z
      .record(name(100), priceFeedEntry)
      .check(atMost, z.describe('Price lists that are read on a schedule, by the name of the channel.')),
  ),
  channel_costs: z.optional(
    z
      .record(name(100), channelCostsEntry)
      .check(atMost, z.describe('What the upstreams of channels charge, by the name of the channel.')),
  ),
  virtual_models: z.optional(z.array(virtualModelEntry).check(z.maxLength(mostVirtualModels))),
  alert_destinations: z.optional(z.array(alertDestinationEntry).check(z.maxLength(100))),
  alert_rules: z.optional(z.array(alertRuleEntry).check(z.maxLength(100))),
})

export type ConfigFile = z.output<typeof configFileSchema>

/** The sections in the order in which they are applied. A section may refer to entries of earlier sections. */
export const configSections = [
  'options',
  'groups',
  'prices',
  'tool_prices',
  'service_tiers',
  'channels',
  'price_feeds',
  'channel_costs',
  'virtual_models',
  'alert_destinations',
  'alert_rules',
] as const satisfies readonly Exclude<keyof ConfigFile, 'version'>[]

export type ConfigSection = (typeof configSections)[number]
