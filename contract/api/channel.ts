import * as z from 'zod/mini'
import { shownCarries, writtenCarries } from './channel-carries.ts'
import { channelHealthApi } from './channel-health.ts'
import { channelLimitSchema, channelLimitsApi, channelLimitsField } from './channel-limits.ts'
import { channelOperations, keyMode } from './channel-operations.ts'
import { channelProbeApi } from './channel-probe.ts'
import { endpoint, idParams } from './endpoint.ts'
import { idField, text, trimmedText } from './fields.ts'
import { listQuery, numberFilter } from './list-query.ts'

/** A channel as the API shows it; the key is always empty. */
export const channelSchema = z.object({
  id: z.int(),
  type: z.int().check(z.describe('Number of the type in the catalogue of channel types.')),
  key: z.literal(''),
  status: z.int().check(z.describe('1 enabled, 2 disabled by a person, 3 disabled by the gateway.')),
  name: z.string(),
  weight: z
    .int()
    .check(
      z.describe(
        'Share of the calls that the channel gets among channels of the same priority, relative to their weights.',
      ),
    ),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  test_time: z.int().check(z.describe('Time of the last test in epoch seconds.')),
  response_time: z.int().check(z.describe('Duration of the last test in milliseconds.')),
  /** Tollgate added this field; one-api does not have it. */
  test_error: z.string().check(z.describe('Why the last test failed; empty if it passed or there was none.')),
  base_url: z.string().check(z.describe('Base URL of the upstream; empty means the default URL of the type.')),
  other: z.string().check(z.describe('What the type needs in addition to the key, such as an API version.')),
  balance: z.number().check(z.describe('Remaining balance that the upstream reports, in its own currency.')),
  balance_updated_time: z.int().check(z.describe('Epoch seconds.')),
  models: z.string().check(z.describe('Comma-separated.')),
  group: z.string().check(z.describe('Comma-separated groups that can use the channel.')),
  used_quota: z.int().check(z.describe('Quota units.')),
  model_mapping: z
    .string()
    .check(z.describe('Text of a JSON object that maps requested models to the models sent upstream.')),
  priority: z.int().check(z.describe('Channels with a higher priority are tried first.')),
  config: z.string().check(z.describe('Text of a JSON object with the settings of this channel.')),
  system_prompt: z
    .string()
    .check(z.describe('System prompt for every chat. It replaces the system prompt of the caller.')),
  /**
   * Added by Tollgate: whether several keys are used in turn (`multi`), how many keys there are, and how many of them
   * are paused.
   */
  key_mode: keyMode.check(z.describe('single: the channel has one key. multi: the channel uses several keys in turn.')),
  key_count: z.int().check(z.describe('Number of keys that the channel has.')),
  keys_dead: z.int().check(z.describe('Number of paused keys.')),
  /**
   * Added by Tollgate: what the gateway last did to the channel automatically. It may have disabled or enabled the
   * channel, skipped it for a while, or paused a key.
   */
  status_reason: z
    .string()
    .check(z.describe('Why the gateway last changed or skipped the channel; empty if it never did.')),
  status_time: z.int().check(z.describe('When the gateway did this, in epoch seconds.')),
  /** Tollgate added this field and those after it; one-api does not have them. */
  draining: z.boolean().check(z.describe('True if the channel takes no new sessions. Its existing sessions continue.')),
  limits: z.array(channelLimitSchema).check(z.describe('Limits of the channel and of each of its keys.')),
  missing: z
    .array(
      z.object({
        what: z.string().check(z.describe('What is missing: a dialect, or the usage in the streams of a model.')),
        reason: z.string().check(z.describe('The message of the upstream.')),
        until: z.int().check(z.describe('Epoch seconds until which the gateway does not request the feature.')),
      }),
    )
    .check(z.describe('Features that the upstream turned out not to offer, as known to this process; empty in lists.')),
  /** Tollgate added this field; one-api does not have it. */
  managed_by: z
    .string()
    .check(
      z.describe(
        'Name of the configuration file that manages the channel. The next time the file is applied, other changes are undone. Empty if no file manages the channel.',
      ),
    ),
  ...shownCarries,
})

export type Channel = z.output<typeof channelSchema>

/** The settings of one channel, stored as JSON text in `config`. Times are in seconds; 0 = no limit. */
export const channelConfigSchema = z.strictObject({
  api_version: z.optional(text(100)),
  /** The pattern is strict because the region becomes part of a host name. */
  region: z.optional(text(100).check(z.regex(/^[\w-]*$/, { error: 'may contain only letters, digits and dashes' }))),
  library_id: z.optional(text(200)),
  plugin: z.optional(text(200)),
  user_id: z.optional(text(200)),
  connect_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  first_byte_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  stream_idle_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  relay_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  /** The time limit for the first content of a stream: for all models of the channel, and for individual ones. */
  first_token_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  first_token_timeouts: z.optional(z.record(text(200), z.number().check(z.gte(0), z.lte(86_400)))),
  http_version: z.optional(z.enum(['auto', '1.1', '2'])),
  /** Where system messages are placed. If absent, the gateway uses what is best for the channel type. */
  system_turns: z.optional(z.enum(['keep', 'first', 'user'])),
  /** Azure: remove the dots from every deployment name, as one-api did. */
  strip_deployment_dots: z.optional(z.boolean()),
  /** DashScope: use its OpenAI-compatible API instead of its native one. */
  compatible: z.optional(z.boolean()),
})

export type ChannelConfig = z.output<typeof channelConfigSchema>

/** One entry of the catalogue of channel types; the console builds its form from it. */
export const channelTypeSchema = z.object({
  type: z.int().check(z.describe('The number by which channels refer to the type.')),
  name: z.string(),
  label: z.string(),
  color: z.string().check(z.describe('Color of the badge of the type in the console.')),
  defaultBaseUrl: z.string().check(z.describe('Base URL of channels that do not set one.')),
  models: z.array(z.string()),
  keyHint: z.string().check(z.describe('What a key of this type looks like.')),
  otherLabel: z.optional(
    z.string().check(z.describe('What the field `other` means for this type; absent if it means nothing.')),
  ),
  otherDefault: z.optional(z.string()),
})

export type ChannelTypeEntry = z.output<typeof channelTypeSchema>

export const channelSortColumns = [
  'id',
  'name',
  'type',
  'status',
  'group',
  'response_time',
  'test_time',
  'balance',
  'priority',
  'weight',
  'used_quota',
  'created_time',
] as const

/** Filters for channels, in the list and in a search. */
const filters = {
  type: numberFilter(1_000_000, 'Number of the type in the catalogue of channel types; 0 means all types.'),
  status: numberFilter(3, '1 enabled, 2 disabled by a person, 3 disabled by the gateway; 0 means all.'),
  group: z._default(
    text(200).check(
      z.trim(),
      z.regex(/^[^,]*$/, { error: 'must be one group' }),
      z.describe('A group that can use the channel; must match exactly. Empty means all.'),
    ),
    '',
  ),
  tag: z._default(text(40).check(z.trim(), z.describe('A tag of the channel. Empty means all.')), ''),
}

const fields = {
  type: z.optional(
    z.int().check(z.gte(0), z.lte(1_000_000), z.describe('Number of the type in the catalogue of channel types.')),
  ),
  name: z.optional(trimmedText(100)),
  key: z.optional(z.string().check(z.maxLength(200_000))),
  status: z.optional(z.int()),
  weight: z.nullish(z.int().check(z.gte(0), z.lte(1_000_000))),
  priority: z.nullish(z.int().check(z.gte(-1_000_000_000), z.lte(1_000_000_000))),
  base_url: z.nullish(trimmedText(500)),
  other: z.nullish(text(500)),
  models: z.optional(z.string().check(z.maxLength(100_000))),
  group: z.optional(z.string().check(z.maxLength(2000))),
  model_mapping: z.nullish(z.string().check(z.maxLength(100_000))),
  config: z.nullish(z.string().check(z.maxLength(20_000))),
  system_prompt: z.nullish(z.string().check(z.maxLength(100_000))),
  /**
   * Added by Tollgate: `single` (the default) makes one channel per line of the key, `multi` one channel that uses all
   * lines.
   */
  key_mode: z.optional(keyMode),
  /** Tollgate added this field and those after it; one-api does not have them. */
  draining: z.optional(z.boolean().check(z.describe('True to let the channel take no new sessions.'))),
  limits: z.optional(channelLimitsField.check(z.describe('The limits of the channel. They replace all current ones.'))),
  ...writtenCarries,
}

export const createChannelBody = z.object(fields)
/**
 * Omitted fields stay unchanged. An empty key leaves the key unchanged, and 0 leaves the type unchanged. With
 * `key_append`, the lines of the key are added to the existing keys of a channel with several keys.
 */
export const updateChannelBody = z.object({ id: idField, ...fields, key_append: z.optional(z.boolean()) })

const modelEntry = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
  permission: z.array(z.record(z.string(), z.unknown())),
  root: z.string(),
  parent: z.null(),
})

const testAnswer = z.object({
  time: z.number().check(z.describe('Duration of the test in seconds.')),
  modelName: z.optional(
    z.string().check(z.describe('The tested model, if the request named one. Its reply is in `message`.')),
  ),
})

/**
 * All fields of a channel, plus `groups`, the list from which the console builds its form. one-api's console sends all
 * of them back when it saves a channel.
 */
const rowFields = [...Object.keys(channelSchema.shape), 'groups']

export const channelApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/channel/',
    access: 'admin',
    query: z.extend(listQuery(channelSortColumns), filters),
    data: z.array(channelSchema),
    summary: 'List channels, newest first',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/channel/search',
    access: 'admin',
    query: z.extend(listQuery(channelSortColumns, 100), {
      keyword: z._default(z.string().check(z.trim(), z.maxLength(5000), z.describe('Text to search for.')), ''),
      ...filters,
    }),
    data: z.array(channelSchema),
    summary: 'Search channels by id or key, or by the beginning of their name',
  }),
  models: endpoint({
    method: 'GET',
    path: '/api/channel/models',
    access: 'admin',
    envelope: 'bare',
    data: z.object({ object: z.literal('list'), data: z.array(modelEntry) }),
    summary: "List all built-in models in OpenAI's format",
  }),
  tags: endpoint({
    method: 'GET',
    path: '/api/channel/tags',
    access: 'admin',
    data: z.array(z.string()),
    summary: 'List the tags of all channels, sorted',
  }),
  types: endpoint({
    method: 'GET',
    path: '/api/channel/types',
    access: 'admin',
    data: z.array(channelTypeSchema),
    summary: 'Get the catalogue of channel types',
  }),
  defaultModels: endpoint({
    method: 'GET',
    path: '/api/models',
    access: 'user',
    data: z.record(z.string(), z.array(z.string())),
    summary: 'Get the default models of each channel type, by the number of the type',
  }),
  testAll: endpoint({
    method: 'GET',
    path: '/api/channel/test',
    access: 'admin',
    changesState: true,
    query: z.object({ scope: z.catch(z.enum(['all', 'disabled']), 'all') }),
    summary:
      'Start a test of all channels except those disabled by a person; with scope=disabled, only of those disabled automatically',
  }),
  test: endpoint({
    method: 'GET',
    path: '/api/channel/test/{id}',
    access: 'admin',
    changesState: true,
    envelope: 'flat',
    params: idParams,
    query: z.object({
      model: z.optional(text(200).check(z.describe("The model to test; the channel's first model by default."))),
    }),
    data: testAnswer,
    summary: 'Test one channel; `time` is in seconds',
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/channel/{id}',
    access: 'admin',
    params: idParams,
    data: channelSchema,
    summary: 'Get a channel',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/channel/',
    access: 'admin',
    body: createChannelBody,
    ignores: rowFields,
    data: z.array(z.int()),
    summary:
      'Create one channel per line of the key or, with key_mode=multi, one channel for all lines; returns the ids',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/channel/',
    access: 'admin',
    body: updateChannelBody,
    ignores: rowFields,
    data: channelSchema,
    summary: 'Update a channel; fields that are not sent stay unchanged',
  }),
  removeDisabled: endpoint({
    method: 'DELETE',
    path: '/api/channel/disabled',
    access: 'admin',
    data: z.int(),
    summary: 'Delete all disabled channels; returns how many',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/channel/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a channel',
  }),
  ...channelHealthApi,
  ...channelLimitsApi,
  ...channelProbeApi,
  ...channelOperations,
}
