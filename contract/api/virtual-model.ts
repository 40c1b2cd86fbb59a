import * as z from 'zod/mini'
import { stepFailures, usualStepFailures } from '../step-failures.ts'
import { endpoint, idParams } from './endpoint.ts'
import { idField, text, trimmedText } from './fields.ts'

/** How many virtual models an installation has at most, and how many steps each of them. */
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
          'Neighbouring steps with a weight share the calls in proportion to their weights; 0 means a step of its own.',
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
        z.describe('Seconds within which a stream must begin to say something; 0 means the limit of the channel.'),
      ),
    0,
  ),
})

export type VirtualStep = z.output<typeof stepSchema>

const fields = {
  name: modelName('The name that callers request.'),
  description: text(500).check(z.describe('For people.')),
  steps: z
    .array(stepSchema)
    .check(z.minLength(1), z.maxLength(mostSteps), z.describe('The models that may answer, in order.')),
  failures: z
    .array(z.enum(stepFailures))
    .check(z.maxLength(stepFailures.length), z.describe('The failures after which the next step is taken.')),
  price: z
    .nullable(virtualPriceSchema)
    .check(z.describe('A price of its own; null means the price of the step that answers.')),
  groups: z
    .array(trimmedText(64).check(z.minLength(1)))
    .check(z.maxLength(100), z.describe('The groups that may use the model; an empty list means all.')),
  enabled: z.boolean().check(z.describe('False if the model is switched off.')),
  stream_rescue: z
    .nullable(z.boolean())
    .check(z.describe('Whether a stream that breaks is continued; null means as the option StreamRescue says.')),
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
 * `real_model`: channels serve a model of the same name, which the virtual model hides. `unserved`: no channel serves the
 * step. `circle`: the step leads back to the virtual model. `unpriced`: the step has no price.
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
    .check(z.describe('What is odd about the model. It can be used nevertheless.')),
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
    summary: 'Change a virtual model. Omitted fields stay unchanged',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/virtual-model/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a virtual model. Its name then stands for the real model of that name, if there is one',
  }),
}
