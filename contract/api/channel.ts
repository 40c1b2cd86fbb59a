import * as z from 'zod/mini'
import { channelOperations, keyMode } from './channel-operations.ts'
import { endpoint, idParams } from './endpoint.ts'
import { idField, text, trimmedText } from './fields.ts'
import { listQuery, numberFilter } from './list-query.ts'

/** A channel as the API shows it; the key is always empty. */
export const channelSchema = z.object({
  id: z.int(),
  type: z.int().check(z.describe('A number of the catalogue.')),
  key: z.literal(''),
  status: z.int().check(z.describe('1 enabled, 2 disabled by a person, 3 disabled by the gateway.')),
  name: z.string(),
  weight: z.int().check(z.describe('Share among channels of one priority.')),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  test_time: z.int().check(z.describe('Epoch seconds of the last test.')),
  response_time: z.int().check(z.describe('Milliseconds of the last test.')),
  /** Added by Tollgate. */
  test_error: z.string().check(z.describe('What was wrong at the last test; empty = it passed, or there was none.')),
  base_url: z.string().check(z.describe("Address of the upstream; empty = the type's own.")),
  other: z.string().check(z.describe('What the type needs beyond the key, such as an API version.')),
  balance: z.number().check(z.describe('What the upstream says is left there, in its own currency.')),
  balance_updated_time: z.int().check(z.describe('Epoch seconds.')),
  models: z.string().check(z.describe('Comma-separated.')),
  group: z.string().check(z.describe('Comma-separated groups that may use it.')),
  used_quota: z.int().check(z.describe('Quota units.')),
  model_mapping: z.string().check(z.describe('JSON object text: asked model → model sent upstream.')),
  priority: z.int().check(z.describe('Higher is tried first.')),
  config: z.string().check(z.describe('JSON object text with settings of this channel.')),
  system_prompt: z.string().check(z.describe('Put in front of every chat.')),
  /**
   * Added by Tollgate: whether several keys are used in turn (`multi`), how many keys there are, and how many of them
   * are set aside.
   */
  key_mode: keyMode.check(z.describe('multi = several keys used in turn.')),
  key_count: z.int().check(z.describe('Keys that it has.')),
  keys_dead: z.int().check(z.describe('Keys that are set aside.')),
  /**
   * Added by Tollgate: what the gateway last did to the channel automatically. It may have disabled it, enabled it,
   * left it alone, or set a key aside.
   */
  status_reason: z
    .string()
    .check(z.describe('Why the gateway last changed it or left it alone; empty = it never did.')),
  status_time: z.int().check(z.describe('Epoch seconds of that.')),
  missing: z
    .array(
      z.object({
        what: z.string().check(z.describe('A dialect, or the usage of the streams of a model.')),
        reason: z.string().check(z.describe('What the upstream said.')),
        until: z.int().check(z.describe('Epoch seconds until which it is not asked for.')),
      }),
    )
    .check(z.describe('What the upstream was found not to offer, as this process knows; empty in lists.')),
})

export type Channel = z.output<typeof channelSchema>

/** The settings of one channel, stored as JSON text in `config`. Times are in seconds; 0 = no limit. */
export const channelConfigSchema = z.strictObject({
  api_version: z.optional(text(100)),
  /** The region becomes part of a host name. */
  region: z.optional(text(100).check(z.regex(/^[\w-]*$/, { error: 'may have letters, digits and dashes only' }))),
  library_id: z.optional(text(200)),
  plugin: z.optional(text(200)),
  user_id: z.optional(text(200)),
  connect_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  first_byte_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  stream_idle_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  relay_timeout: z.optional(z.number().check(z.gte(0), z.lte(86_400))),
  http_version: z.optional(z.enum(['auto', '1.1', '2'])),
  /** How system messages are placed; absent = whatever is best for the channel type. */
  system_turns: z.optional(z.enum(['keep', 'first', 'user'])),
  /** Azure: remove the dots from every deployment name, as one-api did. */
  strip_deployment_dots: z.optional(z.boolean()),
  /** DashScope: use its OpenAI-compatible API instead of its native one. */
  compatible: z.optional(z.boolean()),
})

export type ChannelConfig = z.output<typeof channelConfigSchema>

/** One entry of the catalogue of channel types; the console builds its form from it. */
export const channelTypeSchema = z.object({
  type: z.int().check(z.describe('The number that channels name.')),
  name: z.string(),
  label: z.string(),
  color: z.string().check(z.describe('For its badge.')),
  defaultBaseUrl: z.string().check(z.describe('Used when a channel names no address.')),
  models: z.array(z.string()),
  keyHint: z.string().check(z.describe('What its key looks like.')),
  otherLabel: z.optional(z.string().check(z.describe('What the field `other` means to it; absent = nothing.'))),
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
  type: numberFilter(1_000_000, 'A number of the catalogue; 0 = all types.'),
  status: numberFilter(3, '1 enabled, 2 disabled by a person, 3 disabled by the gateway; 0 = all.'),
  group: z._default(
    text(200).check(
      z.trim(),
      z.regex(/^[^,]*$/, { error: 'must be one group' }),
      z.describe('A group that may use it, exactly; empty = all.'),
    ),
    '',
  ),
}

const fields = {
  type: z.optional(z.int().check(z.gte(0), z.lte(1_000_000), z.describe('A number of the catalogue of types.'))),
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
}

export const createChannelBody = z.object(fields)
/**
 * Omitted fields stay unchanged, as do the key if it is empty and the type if it is 0. With `key_append`, the lines of
 * the key are added to the keys of a channel that has several.
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
  time: z.number().check(z.describe('Seconds that it took.')),
  modelName: z.optional(
    z.string().check(z.describe('Where a model was named: the one asked; `message` has what it said.')),
  ),
})

/**
 * All fields of a channel, plus the list that the console builds its form from. The original console sends all of them
 * back.
 */
const rowFields = [...Object.keys(channelSchema.shape), 'groups']

export const channelApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/channel/',
    access: 'admin',
    query: z.extend(listQuery(channelSortColumns), filters),
    data: z.array(channelSchema),
    summary: 'Channels, newest first',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/channel/search',
    access: 'admin',
    query: z.extend(listQuery(channelSortColumns, 100), {
      keyword: z._default(z.string().check(z.trim(), z.maxLength(5000), z.describe('What to look for.')), ''),
      ...filters,
    }),
    data: z.array(channelSchema),
    summary: 'Channels with that id or key, or whose name begins with the keyword',
  }),
  models: endpoint({
    method: 'GET',
    path: '/api/channel/models',
    access: 'admin',
    envelope: 'bare',
    data: z.object({ object: z.literal('list'), data: z.array(modelEntry) }),
    summary: 'All built-in models as an OpenAI-style list',
  }),
  types: endpoint({
    method: 'GET',
    path: '/api/channel/types',
    access: 'admin',
    data: z.array(channelTypeSchema),
    summary: 'The catalogue of channel types',
  }),
  defaultModels: endpoint({
    method: 'GET',
    path: '/api/models',
    access: 'user',
    data: z.record(z.string(), z.array(z.string())),
    summary: 'Channel type number → the models that such a channel starts with',
  }),
  testAll: endpoint({
    method: 'GET',
    path: '/api/channel/test',
    access: 'admin',
    changesState: true,
    query: z.object({ scope: z.catch(z.enum(['all', 'disabled']), 'all') }),
    summary:
      'Start testing all channels but those that a person disabled; scope=disabled: only those disabled automatically',
  }),
  test: endpoint({
    method: 'GET',
    path: '/api/channel/test/{id}',
    access: 'admin',
    changesState: true,
    envelope: 'flat',
    params: idParams,
    query: z.object({
      model: z.optional(text(200).check(z.describe("The model to ask; the channel's first one unless given."))),
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
    summary: 'One channel',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/channel/',
    access: 'admin',
    body: createChannelBody,
    ignores: rowFields,
    data: z.array(z.int()),
    summary: 'Make one channel per line of the key, or with key_mode=multi one for all lines; data = their ids',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/channel/',
    access: 'admin',
    body: updateChannelBody,
    ignores: rowFields,
    data: channelSchema,
    summary: 'Change the fields that are sent',
  }),
  removeDisabled: endpoint({
    method: 'DELETE',
    path: '/api/channel/disabled',
    access: 'admin',
    data: z.int(),
    summary: 'Delete all disabled channels; data = how many',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/channel/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a channel',
  }),
  ...channelOperations,
}
