import * as z from 'zod/mini'
import { text } from '../../../contract/api/fields.ts'
import type { VirtualModel, VirtualPrice } from '../../../contract/api/virtual-model.ts'
import { type StepFailure, stepFailures, usualStepFailures } from '../../../contract/step-failures.ts'
import type { VirtualModelBody } from './queries.ts'

/** A step in the form. */
export interface StepValues {
  /** Identifies the row while it is moved. */
  key: number
  model: string
  group: string
  weight: number | undefined
  timeout: number | undefined
}

export interface VirtualValues {
  name: string
  description: string
  steps: StepValues[]
  failures: StepFailure[]
  pricing: 'step' | 'fixed'
  input: number | undefined
  output: number | undefined
  cached: number | undefined
  cache_write: number | undefined
  request: number | undefined
  groups: string[]
  enabled: boolean
  rescue: 'option' | 'on' | 'off'
}

const dollars = z.optional(z.number().check(z.gte(0), z.lte(1_000_000)))

export const virtualSchema = z.object({
  name: text(100).check(z.trim(), z.minLength(1)),
  description: text(500),
  steps: z.array(z.any()).check(
    z.refine((steps) => (steps as StepValues[]).every(({ model }) => model.trim() !== ''), {
      error: 'virtual.form.steps.missing',
    }),
  ),
  failures: z.array(z.enum(stepFailures)),
  pricing: z.enum(['step', 'fixed']),
  input: dollars,
  output: dollars,
  cached: dollars,
  cache_write: dollars,
  request: dollars,
  groups: z.array(z.string()),
  enabled: z.boolean(),
  rescue: z.enum(['option', 'on', 'off']),
})

let lastKey = 0

/** An empty step. */
export function newStep(): StepValues {
  return { key: ++lastKey, model: '', group: '', weight: undefined, timeout: undefined }
}

/** The values of the form for an existing virtual model, or for a new one. */
export function virtualValues(model: VirtualModel | undefined): VirtualValues {
  const { price, stream_rescue: rescue } = model ?? { price: null, stream_rescue: null }
  return {
    name: model?.name ?? '',
    description: model?.description ?? '',
    steps: model
      ? model.steps.map((step) => ({
          key: ++lastKey,
          model: step.model,
          group: step.group,
          weight: step.weight || undefined,
          timeout: step.first_token_timeout || undefined,
        }))
      : [newStep()],
    failures: [...(model?.failures ?? usualStepFailures)],
    pricing: price ? 'fixed' : 'step',
    input: price?.input,
    output: price?.output,
    cached: price?.cached,
    cache_write: price?.cache_write,
    request: price?.request,
    groups: [...(model?.groups ?? [])],
    enabled: model?.enabled ?? true,
    rescue: rescue === null ? 'option' : rescue ? 'on' : 'off',
  }
}

/** The form's values in the server's format. */
export function virtualBody(values: VirtualValues): VirtualModelBody {
  const { name, description, failures, groups, enabled, rescue } = values
  return {
    ...{ name: name.trim(), description: description.trim(), failures, groups, enabled },
    steps: values.steps.map(({ model, group, weight = 0, timeout = 0 }) => ({
      ...{ model: model.trim(), group, weight, first_token_timeout: timeout },
    })),
    price: values.pricing === 'fixed' ? priceOf(values) : null,
    stream_rescue: rescue === 'option' ? null : rescue === 'on',
  }
}

function priceOf(values: VirtualValues): VirtualPrice {
  const names = ['input', 'output', 'cached', 'cache_write', 'request'] as const
  const given = names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]))
  return Object.fromEntries(given)
}
