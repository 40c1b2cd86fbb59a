import { expect, test } from 'bun:test'
import type { CallParameters } from '../../../contract/api/log-request.ts'
import type { RequestFacts } from '../../dialects/neutral/dialect.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { FormBody } from '../body/form-body.ts'
import { parametersOf } from './parameters-of.ts'

const facts: RequestFacts = {
  model: 'm',
  stream: false,
  wantsStreamUsage: false,
  maxTokens: undefined,
  choices: 1,
  prompt: { texts: [], fixedTokens: 0, hasMedia: true },
}
const of = (json: JsonObject, mode: 'chat' | 'embeddings' | 'images' | 'rerank' = 'chat', more = {}) =>
  parametersOf({ mode }, { kind: 'json', text: '', json }, { ...facts, ...more })

const requests: [what: string, json: JsonObject, parameters: CallParameters][] = [
  [
    'a Responses request',
    {
      input: [
        {
          role: 'user',
          content: [{ type: 'input_text', text: 'Hi' }, { type: 'input_image' }, { type: 'input_file' }],
        },
        { type: 'function_call_output', output: [{ type: 'input_image' }] },
      ],
      reasoning: { effort: 'high' },
      text: { format: { type: 'json_schema' }, verbosity: 'low' },
      tools: [{ type: 'web_search' }, { type: 'function' }],
      tool_choice: 'required',
    },
    {
      messages: 2,
      images: 2,
      files: 1,
      reasoning_effort: 'high',
      response_format: 'json_schema',
      verbosity: 'low',
      tools: 2,
      tool_choice: 'required',
    },
  ],
  [
    'a Messages request',
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'image' }] }, { type: 'document' }] },
      ],
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { effort: 'max', format: { type: 'json_schema' } },
      tool_choice: { type: 'any' },
      top_k: 40,
    },
    {
      messages: 2,
      images: 1,
      files: 1,
      thinking: 'enabled',
      thinking_tokens: 2048,
      reasoning_effort: 'max',
      response_format: 'json_schema',
      tool_choice: 'any',
      top_k: 40,
    },
  ],
  [
    'a Gemini request',
    {
      contents: [
        {
          parts: [
            { inlineData: { mimeType: 'image/png' } },
            { file_data: { mime_type: 'audio/mp3' } },
            { fileData: { fileUri: 'x' } },
          ],
        },
      ],
      generationConfig: {
        topP: 0.123456,
        responseMimeType: 'application/json',
        responseSchema: {},
        thinkingConfig: { thinkingBudget: -1, thinkingLevel: 'LOW' },
      },
      tools: [{ functionDeclarations: [{}, {}] }, { googleSearch: {} }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
    },
    {
      messages: 1,
      images: 1,
      audio: 1,
      files: 1,
      top_p: 0.1235,
      response_format: 'json_schema',
      thinking_tokens: -1,
      reasoning_effort: 'low',
      tools: 3,
      tool_choice: 'any',
    },
  ],
  ['an empty request', {}, {}],
  [
    'a request whose values are of no use',
    {
      messages: { length: 7 },
      temperature: Number.POSITIVE_INFINITY,
      top_p: '1',
      top_k: 1.5,
      tools: 'none',
      tool_choice: null,
      response_format: ['json_object'],
      reasoning_effort: { effort: 'low' },
      thinking: 'enabled',
      verbosity: 'very low, as I told you',
    },
    {},
  ],
]

test.each(requests)('%s', (_, json, parameters) => {
  expect(of(json)).toEqual(parameters)
})

test('limits and the tier come from the facts that the gateway has read', () => {
  expect(of({}, 'chat', { maxTokens: 100, choices: 3, tier: 'flex' })).toEqual({
    max_tokens: 100,
    choices: 3,
    service_tier: 'flex',
  })
  expect(of({}, 'chat', { maxTokens: 1e12, tier: 'fast+geo-us' })).toEqual({ service_tier: 'fast' })
  expect(of({}, 'chat', { tier: 'whatever' })).toEqual({})
})

test('texts, documents and images are counted in other calls', () => {
  expect(of({ input: [1, 2, 3] }, 'embeddings')).toEqual({ inputs: 1 })
  expect(of({ query: 'q', documents: ['a', 'b'] }, 'rerank')).toEqual({ inputs: 2 })
  const image = { prompt: 'a cat', size: '1024x1536', quality: 'hd', response_format: 'b64_json' }
  expect(of(image, 'images')).toEqual({ inputs: 1, size: '1024x1536', quality: 'hd', response_format: 'b64_json' })
  expect(of({ size: '1x1 and a word', quality: 'as good as you can' }, 'images')).toEqual({})
})

test('the parameters of a form are the numbers and words in its fields, and the number of its files', () => {
  const formOf = (fields: Record<string, string>, names: Record<string, number>) =>
    parametersOf(
      { mode: 'transcriptions' },
      {
        kind: 'form',
        form: { fields: new Map(Object.entries(fields)), names: new Map(Object.entries(names)) } as unknown as FormBody,
      },
      facts,
    )
  expect(formOf({ temperature: '0.2', response_format: 'srt', prompt: 'a word' }, { file: 1 })).toEqual({
    temperature: 0.2,
    response_format: 'srt',
    audio: 1,
  })
  expect(formOf({ size: 'auto', temperature: 'warm' }, { image: 1, 'image[]': 2 })).toEqual({ size: 'auto', images: 3 })
  expect(formOf({ temperature: ' ' }, {})).toEqual({})
})
