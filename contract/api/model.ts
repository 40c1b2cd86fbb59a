import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { priceApi, pricedModelSchema } from './price.ts'

/** What a model reads and writes. */
export const modalities = ['text', 'image', 'audio', 'video', 'pdf'] as const

export type Modality = (typeof modalities)[number]

const tokens = (description: string) => z.optional(z.int().check(z.describe(description)))
const date = (description: string) => z.optional(z.string().check(z.describe(description)))

/** Facts about a model as its maker publishes them. Facts that are not known are absent. */
export const modelFactsSchema = z.object({
  model: z.string(),
  name: z.string().check(z.describe('Display name of the model.')),
  released: date('YYYY-MM-DD, or YYYY-MM if the day is not known.'),
  context: tokens('Maximum number of tokens of a prompt and its response together.'),
  output: tokens('Maximum number of tokens of a response.'),
  knowledge: date('The end of the training data, as YYYY-MM-DD or YYYY-MM.'),
  reads: z.array(z.enum(modalities)).check(z.describe('What a prompt can contain.')),
  writes: z.array(z.enum(modalities)).check(z.describe('What a response can contain.')),
  tools: z.boolean().check(z.describe('True if the model can call tools.')),
  reasoning: z.boolean().check(z.describe('True if the model can think before it answers.')),
  open_weights: z.boolean().check(z.describe('True if the weights can be downloaded.')),
})

export type ModelFacts = z.output<typeof modelFactsSchema>

/** How well a model has worked on this server. */
export const modelFiguresSchema = z.object({
  model: z.string(),
  first_byte: z
    .nullable(z.int())
    .check(z.describe('Median time to the first byte in milliseconds; null if there were no streamed responses.')),
  speed: z
    .nullable(z.number())
    .check(z.describe('Output tokens per second after the first byte; null if there were no streamed responses.')),
  uptime: z
    .nullable(z.number())
    .check(
      z.describe(
        'Percentage of requests that did not fail because of this server or its upstreams, rounded down to a tenth; null if there were too few requests.',
      ),
    ),
  spent: z.int().check(z.describe('Quota units that the caller spent on the model in the last 30 days.')),
})

export type ModelFigures = z.output<typeof modelFiguresSchema>

const factsList = z.object({
  source: z.string().check(z.describe('The registry that the facts come from.')),
  date: z.string().check(z.describe("Date of the registry's data.")),
  models: z
    .array(modelFactsSchema)
    .check(z.describe('Facts about the models. Models that the registry does not list are absent.')),
})

export const modelApi = {
  facts: endpoint({
    method: 'GET',
    path: '/api/model/facts',
    access: 'user',
    query: priceApi.list.query,
    data: factsList,
    summary: 'Get facts about the models that a group can use: context, output, modalities, abilities',
    description: 'The response has an `ETag`; send it as `If-None-Match` to receive status 304 if nothing has changed.',
  }),
  figures: endpoint({
    method: 'GET',
    path: '/api/model/figures',
    access: 'user',
    data: z.object({ models: z.array(modelFiguresSchema) }),
    summary: 'Get speed and uptime of the models in the last 7 days, and what the caller spent on them in 30 days',
    description:
      "Speed is measured on the newest 20,000 log rows. Speed and uptime may be 30 seconds old. Only models of the caller's group, and models that the caller has used, are listed.",
  }),
  visitors: endpoint({
    method: 'GET',
    path: '/api/model/public',
    access: 'public',
    data: z.object({
      source: factsList.shape.source,
      date: factsList.shape.date,
      models: z.array(pricedModelSchema),
      facts: factsList.shape.models,
    }),
    summary: 'List the models of the default group with prices and facts, for visitors',
    description: 'Status 404 unless the option `PublicModelsEnabled` is on. The response has an `ETag`.',
  }),
}
