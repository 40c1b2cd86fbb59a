import * as z from 'zod/mini'
import { field } from './field.ts'

const generation = z.looseObject({
  maxOutputTokens: field(z.int(), 'Maximum number of output tokens, which also limits the cost of the request.'),
  temperature: field(z.number(), 'Randomness, 0 to 2.'),
  topP: field(z.number(), 'Nucleus sampling, 0 to 1.'),
  topK: field(z.number(), 'Considers only this many of the most likely tokens.'),
  candidateCount: field(z.int(), 'Number of responses to generate; each is charged.'),
  stopSequences: field(z.array(z.string()), 'Texts at which the response ends.'),
  seed: field(z.int(), 'The same seed gives similar responses.'),
  presencePenalty: field(z.number(), 'Discourages tokens that have occurred at all.'),
  frequencyPenalty: field(z.number(), 'Discourages tokens by how often they have occurred.'),
  responseMimeType: field(z.string(), '`text/plain` or `application/json`.'),
  responseSchema: field(z.looseObject({}), "Schema of the response, in Google's form."),
  responseJsonSchema: field(z.looseObject({}), 'Schema of the response, as JSON Schema.'),
  responseModalities: field(z.array(z.string()), 'What the model may produce: `TEXT`, `IMAGE`, `AUDIO`.'),
  responseLogprobs: field(z.boolean(), 'True to return log probabilities.'),
  logprobs: field(z.int(), 'Number of most likely tokens to return at each position.'),
  thinkingConfig: field(
    z.looseObject({}),
    'How much the model thinks (`thinkingLevel`, `thinkingBudget`), and whether thoughts are returned (`includeThoughts`).',
  ),
  speechConfig: field(z.looseObject({}), 'The voice of spoken responses.'),
})

/** The fields of generateContent beyond its contents. Names in snake_case are accepted too. */
export const geminiFields = {
  systemInstruction: field(z.looseObject({}), 'System prompt; only text parts.'),
  tools: field(
    z.array(z.looseObject({})),
    'Functions that the model may call (`functionDeclarations`), and tools that the upstream runs, such as `googleSearch`. A tool that the upstream runs needs a price.',
  ),
  toolConfig: field(
    z.looseObject({}),
    'Which functions the model may or must call: `functionCallingConfig` with `mode` (AUTO, ANY, NONE, VALIDATED) and `allowedFunctionNames`.',
  ),
  generationConfig: field(generation, 'Length, randomness, format and thinking of the response.'),
  safetySettings: field(z.array(z.looseObject({})), 'Thresholds of the safety filters. Only for channels of Google.'),
  cachedContent: field(z.string(), 'Name of a cached prompt at the upstream. Only for channels of Google.'),
  serviceTier: field(z.string(), '`standard`, `flex` or `priority`. A tier without a price is rejected.'),
}
