import * as z from 'zod/mini'
import { field } from './field.ts'

/** The settings that OpenAI's chat, completions and Responses APIs have in common. */
export const sampling = {
  temperature: field(
    z.number(),
    'Randomness, 0 to 2; lower values give more predictable responses. When the request is translated, it is dropped for models that reject it.',
  ),
  top_p: field(
    z.number(),
    'Nucleus sampling, 0 to 1: only the most likely tokens with this total probability are considered.',
  ),
}

/** Fields that OpenAI's chat and Responses APIs have in common. */
export const shared = {
  ...sampling,
  parallel_tool_calls: field(z.boolean(), 'False to allow at most one tool call per response.'),
  top_logprobs: field(
    z.int(),
    'Number of most likely tokens to return at each position, 0 to 20. The upstream must support log probabilities.',
  ),
  user: field(
    z.string(),
    'An id for the end user, which the upstream uses to detect abuse. `safety_identifier` is read if this is missing.',
  ),
  safety_identifier: field(z.string(), 'A stable id for the end user, which the upstream uses to detect abuse.'),
  metadata: field(z.looseObject({}), 'Up to 16 names and values that the upstream stores with the response.'),
  service_tier: field(
    z.string(),
    'Processing tier: `auto`, `default`, `flex` or `priority`. Tiers have their own price; a tier without a price is rejected with `tier_not_priced`.',
  ),
  prompt_cache_key: field(
    z.string(),
    'Groups requests with the same beginning, so that the upstream can find its prompt cache.',
  ),
  prompt_cache_retention: field(z.string(), 'How long the upstream keeps the prompt cache, for example `24h`.'),
}

/** The fields of a chat completion beyond the model, the messages and the limits. */
export const chatFields = {
  ...shared,
  tools: field(
    z.array(z.looseObject({})),
    'Tools that the model may call: functions (`{"type": "function", "function": {"name", "description", "parameters", "strict"}}`), custom tools with free text, and tools that the upstream runs. A tool that the upstream runs needs a price.',
  ),
  tool_choice: field(
    z.unknown(),
    '`auto`, `none`, `required`, or an object that names one tool or a list of allowed tools.',
  ),
  functions: field(z.array(z.looseObject({})), 'The older form of `tools`.'),
  function_call: field(z.unknown(), 'The older form of `tool_choice`.'),
  response_format: field(
    z.looseObject({ type: z.string().check(z.describe('`text`, `json_object` or `json_schema`.')) }),
    'The format of the response. With `json_schema`, the response follows the given schema.',
  ),
  reasoning_effort: field(
    z.string(),
    'How much the model reasons: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, if the model supports it. Translated for channels with another dialect.',
  ),
  reasoning: field(z.looseObject({}), "OpenRouter's form: `effort`, `max_tokens`, `exclude`, `enabled`."),
  thinking: field(z.looseObject({}), "Anthropic's form, which other providers adopted: `type` and `budget_tokens`."),
  verbosity: field(z.string(), 'Length of the response: `low`, `medium` or `high`.'),
  stop: field(z.unknown(), 'A text or a list of texts at which the response ends. OpenAI accepts up to 4.'),
  seed: field(z.int(), 'The same seed gives similar responses, if the upstream supports it.'),
  frequency_penalty: field(z.number(), 'Discourages tokens by how often they have occurred, -2 to 2.'),
  presence_penalty: field(z.number(), 'Discourages tokens that have occurred at all, -2 to 2.'),
  logit_bias: field(
    z.looseObject({}),
    'Changes the likelihood of tokens, by token id, -100 to 100. Only for channels in this dialect.',
  ),
  logprobs: field(z.boolean(), 'True to return the log probabilities of the tokens.'),
  top_k: field(
    z.number(),
    'Considers only this many of the most likely tokens. Not part of the OpenAI API; passed on and translated.',
  ),
  modalities: field(z.array(z.string()), 'What the model may produce: `text`, `audio`, `image`.'),
  audio: field(z.looseObject({}), 'Voice and format of spoken responses: `voice`, `format`.'),
  prediction: field(
    z.looseObject({}),
    'Text that the response is expected to contain. Only for channels in this dialect.',
  ),
  web_search_options: field(
    z.looseObject({}),
    'Lets the model search the web. Each search is charged if the operator has set a price.',
  ),
  store: field(z.boolean(), 'True to have the upstream keep the response. Only for channels in this dialect.'),
}

/** The fields of a text completion beyond the model, the prompt and the limits. */
export const completionFields = {
  ...sampling,
  suffix: field(z.string(), 'Text that follows the completion.'),
  echo: field(z.boolean(), 'True to repeat the prompt in the response.'),
  stop: field(z.unknown(), 'A text or a list of texts at which the response ends.'),
  seed: field(z.int(), 'The same seed gives similar responses, if the upstream supports it.'),
  logprobs: field(z.int(), 'Number of most likely tokens to return at each position, 0 to 5.'),
  frequency_penalty: field(z.number(), 'Discourages tokens by how often they have occurred, -2 to 2.'),
  presence_penalty: field(z.number(), 'Discourages tokens that have occurred at all, -2 to 2.'),
  logit_bias: field(z.looseObject({}), 'Changes the likelihood of tokens, by token id, -100 to 100.'),
  user: field(z.string(), 'An id for the end user, which the upstream uses to detect abuse.'),
}
