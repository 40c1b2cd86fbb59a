import type { Feature as Lacking } from '../../../server/dialects/neutral/needs.ts'
import type { JsonObject } from '../../../server/lib/json.ts'
import type { Asked } from './callers.ts'
import type { Said } from './fakes/fake.ts'

/** The features that have a column on the page. */
export const features = [
  'plain',
  'stream',
  'tools',
  'parallel tools',
  'structured',
  'vision',
  'reasoning',
  'errors',
] as const
export type Feature = (typeof features)[number]

/** For each feature, what a provider must declare as missing if it does not support the feature. */
export const lackOf: Readonly<Partial<Record<Feature, Lacking>>> = {
  tools: 'tools',
  'parallel tools': 'tools',
  structured: 'structured output',
  vision: 'images',
}

/** A question and its answer. */
export interface Scenario {
  asked: Omit<Asked, 'model' | 'stream'>
  said: Said
  /** A text that must have been sent to the upstream, in whatever form. */
  sent: string
  /** The values of `stream` to test: false, true, or both. */
  ways: readonly boolean[]
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const schema: JsonObject = {
  type: 'object',
  properties: { capital_city: { type: 'string' } },
  required: ['capital_city'],
  additionalProperties: false,
}
const question = 'What is the capital of France?'
const answer: Said = { thought: '', text: 'The capital of France is Paris.', calls: [] }
const paris = { id: 'call_paris', name: 'look_up', input: { city: 'Paris' } }
const rome = { id: 'call_rome', name: 'look_up', input: { city: 'Rome' } }
const both = [false, true] as const

/** The scenario of each feature. Errors have none. */
export const scenarios: Readonly<Record<Exclude<Feature, 'errors'>, Scenario>> = {
  plain: { asked: { text: question }, said: answer, sent: question, ways: [false] },
  stream: { asked: { text: question }, said: answer, sent: question, ways: [true] },
  tools: {
    asked: { text: question, tools: ['look_up'] },
    said: { ...answer, text: '', calls: [paris] },
    sent: '"look_up"',
    ways: both,
  },
  'parallel tools': {
    asked: { text: question, tools: ['look_up'] },
    said: { ...answer, text: '', calls: [paris, rome] },
    sent: '"look_up"',
    ways: both,
  },
  structured: {
    asked: { text: question, schema },
    said: { ...answer, text: '{"capital_city":"Paris"}' },
    sent: 'capital_city',
    ways: both,
  },
  vision: { asked: { text: 'Which city is this?', image: pixel }, said: answer, sent: pixel, ways: both },
  reasoning: {
    asked: { text: question, thinks: true },
    said: { ...answer, thought: 'France is a country with a capital.' },
    sent: question,
    ways: both,
  },
}
