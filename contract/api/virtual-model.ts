import * as z from 'zod/mini'
import { stepFailures, usualStepFailures } from '../step-failures.ts'
import { endpoint, idParams } from './endpoint.ts'
import { idField, text, trimmedText } from './fields.ts'
import { priceSchema } from './price.ts'

/** The maximum number of virtual models in an installation, and of steps in each. */
export const mostVirtualModels = 500
export const mostSteps = 16

const dollars = (description: string) =>
  z.optional(z.number().check(z.gte(0), z.lte(1_000_000), z.describe(description)))

/** A price of a virtual model. */
export const virtualPriceSchema = z.strictObject({
  input: dollars('Dollars for a million prompt tokens.'),
  output: dollars('Dollars for a million completion tokens.'),
  cached: dollars('Dollars for a million prompt tokens that were read from the cache. Omitted means `input`.'),
  cache_write: dollars('Dollars for a million prompt tokens that were written to the cache. Omitted means `input`.'),
  request: dollars('Dollars for each request.'),
})

export type VirtualPrice = z.output<typeof virtualPriceSchema>

const modelName = (description: string) => trimmedText(100).check(z.minLength(1), z.describe(description))

const stepSchema = z.strictObject({
  model: modelName('A model that channels serve, or another virtual model.'),
  group: z._default(
    trimmedText(64).check(
      z.describe(
        'The group whose channels serve the step. Empty means the group of the caller, which is always the one that is charged.',
      ),
    ),
    '',
  ),
  weight: z._default(
    z
      .int()
      .check(
        z.gte(0),
        z.lte(1000),
        z.describe(
          'Adjacent steps with a weight above 0 share the calls in proportion to their weights. 0 means that the step does not share calls with its neighbours.',
        ),
      ),
    0,
  ),
  first_token_timeout: z._default(
    z
      .int()
      .check(
        z.gte(0),
        z.lte(3600),
        z.describe('Seconds within which the first content of a stream must arrive; 0 means the limit of the channel.'),
      ),
    0,
  ),
})

export type VirtualStep = z.output<typeof stepSchema>

const fields = {
  name: modelName('The name that callers request.'),
  description: text(500).check(z.describe('Description for people.')),
  steps: z
    .array(stepSchema)
    .check(z.minLength(1), z.maxLength(mostSteps), z.describe('The models that may answer, in order.')),
  failures: z
    .array(z.enum(stepFailures))
    .check(z.maxLength(stepFailures.length), z.describe('The failures after which the next step is tried.')),
  price: z
    .nullable(virtualPriceSchema)
    .check(
      z.describe('Price of the virtual model itself; null means that calls cost the price of the step that answers.'),
    ),
  groups: z
    .array(trimmedText(64).check(z.minLength(1)))
    .check(z.maxLength(100), z.describe('The groups that may use the model; an empty list means all.')),
  enabled: z.boolean().check(z.describe('False if the model is switched off.')),
  stream_rescue: z
    .nullable(z.boolean())
    .check(
      z.describe('Whether a stream that breaks off is continued; null means that the option StreamRescue decides.'),
    ),
}

const defaults = {
  description: z._default(fields.description, ''),
  failures: z._default(fields.failures, [...usualStepFailures]),
  price: z._default(fields.price, null),
  groups: z._default(fields.groups, []),
  enabled: z._default(fields.enabled, true),
  stream_rescue: z._default(fields.stream_rescue, null),
}

/**
 * `real_model`: channels serve a model of the same name, which the virtual model hides. `unserved`: no channel serves
 * the step. `circle`: the step leads back to the virtual model itself. `unpriced`: the step has no price.
 */
export const virtualWarnings = ['real_model', 'unserved', 'circle', 'unpriced'] as const

export const virtualModelSchema = z.object({
  id: z.int(),
  ...fields,
  warnings: z
    .array(
      z.object({
        kind: z.enum(virtualWarnings),
        model: z.string().check(z.describe('The model that the warning is about.')),
        group: z.string().check(z.describe('The group for which it applies; empty means every group.')),
      }),
    )
    .check(z.describe('Warnings about the model. It can still be used.')),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  updated_time: z.int().check(z.describe('Epoch seconds.')),
})

export type VirtualModel = z.output<typeof virtualModelSchema>
export type VirtualWarning = VirtualModel['warnings'][number]

export const virtualModelBody = z.object({ name: fields.name, steps: fields.steps, ...defaults })

/** Omitted fields stay unchanged. */
export const updateVirtualModelBody = z.object({
  id: idField,
  name: z.optional(fields.name),
  description: z.optional(fields.description),
  steps: z.optional(fields.steps),
  failures: z.optional(fields.failures),
  price: z.optional(fields.price),
  groups: z.optional(fields.groups),
  enabled: z.optional(fields.enabled),
  stream_rescue: z.optional(fields.stream_rescue),
})

/** The paths for which a dry run is possible. */
export const dryRunPaths = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'] as const

/**
 * Why a channel is not called. `disabled`: its status is not enabled. `other_group`: it does not serve the group.
 * `draining`: it takes no new sessions. `kind`: it does not serve this kind of request. `lacks`: its service cannot do
 * what is requested. `unpriced`: the request has no price on this channel. `full`: one of the channel's limits is
 * reached, so the request would wait. `resting` and `unhealthy`: the channel failed recently and is called only if no
 * other is left.
 */
export const dryRunReasons = [
  'disabled',
  'other_group',
  'draining',
  'kind',
  'lacks',
  'unpriced',
  'full',
  'resting',
  'unhealthy',
] as const

export type DryRunReason = (typeof dryRunReasons)[number]

const dryRunChannelSchema = z.object({
  id: z.int(),
  name: z.string(),
  place: z
    .int()
    .check(
      z.describe(
        'Position of the channel in the order in which the channels of the step are called, from 1; 0 means that it is not called.',
      ),
    ),
  priority: z.int(),
  share: z
    .number()
    .check(z.describe('The percentage of calls that the channel gets among the channels of the same priority.')),
  upstream_model: z.string().check(z.describe('The name that is sent upstream.')),
  reason: z.nullable(z.enum(dryRunReasons)).check(z.describe('Why the channel is not called, or is called last.')),
  detail: z.string().check(z.describe('An explanation of `reason` for people; may be empty.')),
  hold: z.int().check(z.describe('Quota units that the request can cost at this channel; 0 if it has no price.')),
  price: z
    .nullable(priceSchema)
    .check(z.describe('The price at this channel; null if the request has no price there.')),
})

const dryRunStepSchema = z.object({
  model: z.string(),
  group: z.string().check(z.describe('The group whose channels serve the step.')),
  place: z
    .int()
    .check(
      z.describe(
        'Position of the step in the order in which the steps are tried, from 1; 0 means that the step is skipped.',
      ),
    ),
  detail: z.string().check(z.describe('Why the step is skipped; empty if it is not.')),
  failures: z
    .array(z.enum(stepFailures))
    .check(z.describe('The failures of this step after which another step is tried.')),
  fixed_price: z
    .boolean()
    .check(z.describe('True if the step is charged at a price of the virtual model, not at the price of the channel.')),
  channels: z
    .array(dryRunChannelSchema)
    .check(
      z.describe(
        'First the channels that are called, in order; then the channels that have the model but are not called.',
      ),
    ),
})

export const dryRunSchema = z.object({
  model: z.string(),
  group: z.string(),
  virtual: z.boolean().check(z.describe('False if the name is that of a real model.')),
  prompt_tokens: z.int().check(z.describe('Estimated number of prompt tokens, on which the hold is based.')),
  hold: z
    .int()
    .check(
      z.describe('Quota units that would be held: the most that the request can cost, at its most expensive step.'),
    ),
  refusal: z
    .nullable(z.object({ code: z.string(), message: z.string() }))
    .check(z.describe('The error that the caller would get now; null if a channel would be called.')),
  steps: z.array(dryRunStepSchema).check(z.describe('The models that may answer, in the order of the virtual model.')),
})

export type DryRun = z.output<typeof dryRunSchema>
export type DryRunStep = DryRun['steps'][number]
export type DryRunChannel = DryRunStep['channels'][number]

export const dryRunBody = z.object({
  model: z._default(trimmedText(200).check(z.describe('The model that is requested; omit it to try `draft`.')), ''),
  group: z._default(trimmedText(64).check(z.minLength(1), z.describe('The group of the caller.')), 'default'),
  token_id: z._default(
    z
      .int()
      .check(
        z.gte(0),
        z.describe(
          'Id of the token with which the request would be made. The group of the token then replaces `group`. 0 means a caller without a token and without limits.',
        ),
      ),
    0,
  ),
  path: z._default(
    z.enum(dryRunPaths).check(z.describe('The path to which the request would be sent.')),
    dryRunPaths[0],
  ),
  request: z._default(
    z
      .record(z.string(), z.unknown())
      .check(
        z.describe('The body of the request. The model in it is ignored. An empty object means a short question.'),
      ),
    {},
  ),
  draft: z._default(
    z
      .nullable(virtualModelBody)
      .check(z.describe('A virtual model that is not saved. It takes precedence over saved ones.')),
    null,
  ),
})

export type DryRunRequest = z.output<typeof dryRunBody>

export const virtualModelApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/virtual-model/',
    access: 'admin',
    data: z.array(virtualModelSchema),
    summary: 'List the virtual models, with warnings about them',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/virtual-model/',
    access: 'admin',
    body: virtualModelBody,
    data: virtualModelSchema,
    summary: 'Create a virtual model',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/virtual-model/',
    access: 'admin',
    body: updateVirtualModelBody,
    ignores: ['warnings', 'created_time', 'updated_time'],
    data: virtualModelSchema,
    summary: 'Update a virtual model; fields that are not sent stay unchanged',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/virtual-model/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a virtual model; its name then refers to the real model of that name, if there is one',
  }),
  dryRun: endpoint({
    method: 'POST',
    path: '/api/virtual-model/dry-run',
    access: 'admin',
    body: dryRunBody,
    data: dryRunSchema,
    summary: 'Show what would happen to a request now: its steps and channels in order, their prices, and the hold',
    description:
      'Nothing is sent upstream, held, charged or logged. The order among channels of the same priority depends on the session of a call; here the channel with the largest share comes first. Limits of channels and of the token are compared with their current use. Limits of the keys of a channel are not checked.',
  }),
}
