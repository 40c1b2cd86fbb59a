import { describe, expect, test } from 'bun:test'
import type { ContextSizes } from '../neutral/reply.ts'
import {
  anthropicWords,
  contextFailure,
  contextSizes,
  googleWords,
  openAiWords,
  readContext,
} from './context-length.ts'

const sizesOf = (message: string, status = 400, ...words: string[]) => contextSizes({ status, message, words })

/** Verbatim error messages from services, and the token counts that can be read from them. */
const told: readonly (readonly [message: string, sizes: ContextSizes, status?: number])[] = [
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
    { limit: 128000, prompt: 130000 },
  ],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (6000 in the messages, 3000 in the completion). Please reduce the length of the messages or completion.",
    { limit: 8192, prompt: 6000, output: 3000 },
  ],
  [
    "This model's maximum context length is 8192 tokens, however you requested 10000 tokens (10000 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    { limit: 8192, prompt: 10000, output: 0 },
  ],
  ['Your input exceeds the context window of this model. Please adjust your input and try again.', {}],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce the length of the messages.',
    { limit: 272000, prompt: 509178 },
  ],
  ['prompt is too long: 3333404 tokens > 200000 maximum', { limit: 200000, prompt: 3333404 }],
  [
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    { limit: 200000, prompt: 190000, output: 20000 },
  ],
  ['Input is too long for requested model.', {}],
  [
    'The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    {},
  ],
  ['Too many input tokens. Max input tokens: 8192, request input token count: 12001', { limit: 8192, prompt: 12001 }],
  [
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    { limit: 1048576, prompt: 1200000 },
  ],
  [
    'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.',
    { limit: 1048576, prompt: 1200000 },
  ],
  [
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens (2500021 of text input). Please reduce the length of either one.",
    { limit: 200000, prompt: 2500021 },
  ],
  ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]', { limit: 98304 }],
  ['Prompt exceeds max length', {}],
  ['Prompt 超长', {}],
  ['Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)', { limit: 8192, prompt: 9000 }],
  ['Input token length too long', {}],
  ['invalid params, context window exceeds limit (2013)', {}],
  ['Prompt tokens too long', {}],
  ['the max input characters is 20000', { limit: 20000 }],
  [
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    { limit: 32768, prompt: 40000 },
  ],
  [
    "too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.",
    {},
  ],
  ['total number of tokens (prompt and prediction) exceeds limit of 4081', { limit: 4081 }],
  [
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    { limit: 131072, prompt: 150000 },
  ],
  [
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 8000 `inputs` tokens and 1000 `max_new_tokens`',
    { limit: 8193, prompt: 8000, output: 1000 },
    422,
  ],
  ['Input validation error: `inputs` must have less than 4096 tokens. Given: 5000', { limit: 4096, prompt: 5000 }, 422],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 10 input tokens (5000 > 4096 - 10).",
    { limit: 4096, prompt: 10, output: 5000 },
  ],
  [
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    { limit: 4096, prompt: 5000 },
  ],
  ["The input (5000 tokens) is longer than the model's context length (4096 tokens).", { limit: 4096, prompt: 5000 }],
  [
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 6000 tokens: 5000 tokens from the input messages and 1000 tokens for the completion.",
    { limit: 4096, prompt: 5000, output: 1000 },
  ],
  [
    'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    { limit: 4096, prompt: 5000 },
  ],
  ['the request exceeds the available context size. try increasing the context size or enable context shift', {}, 500],
  [
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    { limit: 4096, prompt: 5000 },
  ],
  ['The number of tokens to keep from the initial prompt is greater than the context length.', {}],
  ['prompt too long; exceeded max context length by 1119046 tokens (ref: 96164522)', {}],
  ['the input length exceeds the context length', {}],
  ['The prompt is too long: 140000, model maximum context length: 131071', { limit: 131071, prompt: 140000 }],
  ['length of prompt_tokens (100000) must be less than max_seq_len (32768).', { limit: 32768, prompt: 100000 }],
  ['prompt token count of 140000 exceeds the limit of 128000', { limit: 128000, prompt: 140000 }],
  ['Input length 140000 exceeds the maximum length 131072', { limit: 131072, prompt: 140000 }],
  ['Request body too large for gpt-4o model. Max size: 8000 tokens.', { limit: 8000 }, 413],
  [
    'Please reduce the length of the messages or completion. Current length is 9231 while limit is 8192',
    { limit: 8192, prompt: 9231 },
  ],
  ['Total tokens of image and text exceed max message tokens', {}],
  ['token 数量超过上限', {}],
  ['输入长度超过模型最大长度', {}],
]

describe('recognizes error messages about a context that is too long, and reads the sizes:', () => {
  test.each(told.map((each) => [each[0], each] as const))('%s', (_, [message, sizes, status]) => {
    const found = sizesOf(message, status)
    expect(found).toEqual(sizes)
  })

  test.each([
    [500, 'The request exceeds the available context size. Try increasing it.'],
    [500, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."],
    [500, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    [500, 'Invalid request: Your request exceeded model token limit: 8192'],
    [500, 'Input is too long for requested model.'],
    [503, 'prompt is too long: 9 tokens > 8 maximum'],
    [500, 'Prompt 超长'],
  ])(
    'recognizes a message that names the context, prompt or input despite a server error status: %d %s',
    (status, message) => expect(sizesOf(message, status)).toBeDefined(),
  )

  test('recognizes the error code despite a server error status', () => {
    expect(sizesOf('Worker failed.', 503, 'context_length_exceeded')).toEqual({})
  })

  test.each([
    'context_length_exceeded',
    'model_max_prompt_tokens_exceeded',
    'exceed_context_size_error',
    'tokens_too_long',
  ])('recognizes the error by its code alone: %s', (code) => expect(sizesOf('No.', 400, code)).toEqual({}))
})

describe('does not mistake other limits for a context that is too long:', () => {
  test.each([
    ['max_tokens is too large: 200000. This model supports at most 16384 completion tokens.'],
    ['max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for this model'],
    ['max_tokens cannot exceed 8192 tokens'],
    ["Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576."],
    ["Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got 65 instead."],
    ["Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200 instead."],
    ['Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 10338'],
    ['The input image is too large: at most 20 MB.'],
    ['Invalid token in prompt: 123456. Minimum value is 0, maximum value is 100257 (inclusive).'],
    ['Bad request.'],
    ['messages.0: all messages must have non-empty content except for the optional final assistant message'],
    ["Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead."],
    ['The security token included in the request is expired.'],
  ])('%s', (message) => expect(sizesOf(message)).toBeUndefined())

  test.each([
    [429, 'Too many tokens, please wait before trying again.'],
    [429, 'This request would exceed the rate limit of 40,000 input tokens per minute.'],
    [401, 'Your token exceeded its life.'],
    [402, 'This request requires more credits: the prompt exceeds the tokens that you can afford.'],
    [404, "This model's maximum context length is 10 tokens."],
    [403, 'This token has exceeded its spending limit.'],
    [403, 'You have exceeded your monthly token allowance.'],
    [403, "Your plan does not allow prompts longer than the model's context length."],
    [503, 'Too many tokens in flight: server exceeded capacity'],
    [503, 'Too many input tokens in flight, try again later.'],
    [529, 'The number of tokens exceeds what the server can take now.'],
    [500, 'worker crashed: tokens exceeded internal buffer'],
    [500, 'The prompt queue exceeded its limit.'],
    [502, 'The input buffer exceeded the maximum length.'],
    [408, 'The time for tokens was exceeded.'],
    [400, 'This token has exceeded its spending limit.'],
    [400, 'You have exceeded your monthly token allowance.'],
    [400, 'The daily token limit is exceeded.'],
  ])('status %d: %s', (status, message) => expect(sizesOf(message, status)).toBeUndefined())
})

describe('the message for a context that is too long', () => {
  const failure = contextFailure('It does not fit.', { limit: 1000, prompt: 1200 })
  test('includes the sizes in the wording of each dialect', () => {
    expect(anthropicWords(failure)).toBe('prompt is too long: 1200 tokens > 1000 maximum')
    expect(openAiWords(failure)).toStartWith("This model's maximum context length is 1000 tokens.")
    expect(googleWords(failure)).toBe(
      'The input token count (1200) exceeds the maximum number of tokens allowed (1000).',
    )
  })

  test('tells Claude Code the sizes if the prompt fits but the requested answer does not', () => {
    expect(anthropicWords(contextFailure('No.', { limit: 1000, prompt: 600, output: 500 }))).toBe(
      'input length and `max_tokens` exceed context limit: 600 + 500 > 1000, decrease input length or `max_tokens` and try again',
    )
  })

  test('includes the service’s own message if the sizes are unknown', () => {
    const unsized = contextFailure('It does not fit.', {})
    expect(anthropicWords(unsized)).toBe('prompt is too long: It does not fit.')
    expect(openAiWords(unsized)).toBe("This model's maximum context length is exceeded: It does not fit.")
    expect(googleWords(unsized)).toBe('It does not fit.')
  })

  test('is left unchanged if it already uses the dialect’s own wording', () => {
    for (const message of ['prompt is too long: 5 tokens > 4 maximum', 'Prompt is too long'])
      expect(anthropicWords(contextFailure(message, { limit: 4, prompt: 5 }))).toBe(message)
    const openAi = 'Your input exceeds the context window of this model.'
    expect(openAiWords(contextFailure(openAi, {}))).toBe(openAi)
  })

  test('is not used for any other failure', () => {
    const other = { status: 400, kind: 'invalid', message: 'Bad request.' } as const
    expect(readContext(other)).toBe(other)
  })
})
