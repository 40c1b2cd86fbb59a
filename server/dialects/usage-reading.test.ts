// For each dialect, these tests check which tokens of an upstream's usage are included in its totals and which are
// counted in addition to them.
import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import type { JsonObject } from '../lib/json.ts'
import { usageIn as anthropic, laterUsage } from './anthropic-messages/usage.ts'
import { usageIn as bedrock } from './bedrock-converse/reply.ts'
import { usageIn as cohere } from './cohere-chat/reply.ts'
import { usageIn as dashscope } from './dashscope/reply.ts'
import { usageIn as gemini } from './gemini/usage.ts'
import { laterRawReport, laterReport } from './metering/later-usage.ts'
import { readReply } from './openai-passthrough/reply.ts'
import { readRealtimeUsage } from './openai-realtime/usage.ts'
import { readUsage } from './openai-shared/openai-usage.ts'

type Reader = (raw: JsonObject) => Usage | undefined
type Case = [name: string, raw: JsonObject, usage: Partial<Usage>, doubt?: string]

function suite(reader: Reader, cases: Case[]) {
  for (const [name, raw, usage, doubt] of cases)
    test(name, () => {
      const { doubt: told, ...read } = reader(raw) ?? {}
      expect(read as Partial<Usage>).toEqual(usage)
      if (doubt === undefined) expect(told).toBeUndefined()
      else expect(told).toContain(doubt)
    })
}

/** Tokens written to the cache, in the form that both of DashScope's formats use. */
const dashscopeWrites = (hour: number) => ({
  prompt_tokens_details: {
    cached_tokens: 0,
    cache_creation: { [`ephemeral_${hour > 0 ? '1h' : '5m'}_input_tokens`]: 29_713 },
    cache_creation_input_tokens: 29_713,
    cache_type: 'ephemeral',
  },
})

const reasoning = (tokens: number) => ({ completion_tokens_details: { reasoning_tokens: tokens } })

describe("DashScope's own format:", () => {
  suite(
    (raw) => readUsage(dashscope(raw)),
    [
      [
        'tokens written to the cache are part of the prompt',
        { input_tokens: 29_719, output_tokens: 435, total_tokens: 30_154, ...dashscopeWrites(1) },
        { promptTokens: 29_719, completionTokens: 435, cacheWriteTokens: 29_713, cacheWrite1hTokens: 29_713 },
      ],
      [
        'tokens read from the cache are part of the prompt',
        { input_tokens: 100, output_tokens: 4, total_tokens: 104, prompt_tokens_details: { cached_tokens: 90 } },
        { promptTokens: 100, completionTokens: 4, cachedTokens: 90 },
      ],
    ],
  )
})

describe("OpenAI's chat and Responses, and all services that use these dialects:", () => {
  suite(readUsage, [
    [
      'reasoning included in the completion, according to the total',
      { prompt_tokens: 36, completion_tokens: 700, total_tokens: 736, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'reasoning in addition to the completion, according to the total (xAI)',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 736, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'more reasoning than completion tokens, without a total',
      { prompt_tokens: 36, completion_tokens: 10, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'more reasoning than completion tokens, with a total that omits reasoning',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 46, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'more reasoning than output tokens, in the format of the Responses API',
      { input_tokens: 36, output_tokens: 10, output_tokens_details: { reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'thoughts that only the total includes',
      { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'thoughts that only the total includes, without a completion count',
      { prompt_tokens: 9, total_tokens: 1330 },
      { promptTokens: 9, completionTokens: 1321 },
      '1321 tokens of the total',
    ],
    [
      'some reported reasoning, and more tokens in the total',
      { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1994, ...reasoning(1000) },
      { promptTokens: 9, completionTokens: 1985, reasoningTokens: 1000 },
      '1321 tokens of the total',
    ],
    [
      'reasoning and cached tokens in addition to the completion and the prompt',
      {
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 1330,
        prompt_tokens_details: { cached_tokens: 1000 },
        ...reasoning(300),
      },
      { promptTokens: 1010, completionTokens: 320, cachedTokens: 1000, reasoningTokens: 300 },
    ],
    [
      'audio of the answer in addition to the completion',
      {
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 130,
        completion_tokens_details: { audio_tokens: 100 },
      },
      { promptTokens: 10, completionTokens: 120, audioCompletionTokens: 100 },
    ],
    [
      'images of the prompt in addition to the prompt count',
      { prompt_tokens: 10, completion_tokens: 20, total_tokens: 288, prompt_tokens_details: { image_tokens: 258 } },
      { promptTokens: 268, completionTokens: 20, imagePromptTokens: 258 },
    ],
    [
      "cached tokens in Anthropic's format, in addition to the prompt",
      { prompt_tokens: 10, completion_tokens: 20, cache_read_input_tokens: 1000 },
      { promptTokens: 1010, completionTokens: 20, cachedTokens: 1000 },
      '1000 of a prompt of 10',
    ],
    [
      "cached tokens in Anthropic's format, included in the prompt",
      { prompt_tokens: 1010, completion_tokens: 20, total_tokens: 1030, cache_read_input_tokens: 1000 },
      { promptTokens: 1010, completionTokens: 20, cachedTokens: 1000 },
    ],
    [
      'tokens written to the cache, in the details (DashScope)',
      { prompt_tokens: 29_719, completion_tokens: 435, total_tokens: 30_154, ...dashscopeWrites(0) },
      { promptTokens: 29_719, completionTokens: 435, cacheWriteTokens: 29_713 },
    ],
    [
      'tokens written to the cache for an hour, in the details (DashScope)',
      { prompt_tokens: 29_719, completion_tokens: 435, total_tokens: 30_154, ...dashscopeWrites(1) },
      { promptTokens: 29_719, completionTokens: 435, cacheWriteTokens: 29_713, cacheWrite1hTokens: 29_713 },
    ],
    [
      'tokens written to the cache for an hour, in details of the details (LiteLLM)',
      {
        prompt_tokens: 200,
        completion_tokens: 50,
        total_tokens: 250,
        prompt_tokens_details: {
          cached_tokens: 80,
          cache_creation_tokens: 30,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        },
      },
      { promptTokens: 200, completionTokens: 50, cachedTokens: 80, cacheWriteTokens: 30, cacheWrite1hTokens: 20 },
    ],
    [
      'more cached tokens than prompt tokens (Azure with Grok) cost the plain price',
      { prompt_tokens: 293, completion_tokens: 58, total_tokens: 351, prompt_tokens_details: { cached_tokens: 387 } },
      { promptTokens: 293, completionTokens: 58 },
      'cached tokens do not fit',
    ],
    [
      'images that do not fit beside the audio are reduced to the rest of the prompt',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 95, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 95, imagePromptTokens: 5 },
      'images of the prompt do not fit',
    ],
    [
      'audio that fills the prompt leaves no room for images',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 100, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 100 },
      'images of the prompt do not fit',
    ],
    [
      'audio that exceeds the prompt costs the plain price, and images beside it cost the image price',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 101, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, imagePromptTokens: 10 },
      'sound of the prompt do not fit',
    ],
    [
      'tokens written to the cache that do not fit beside the tokens read from it',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        total_tokens: 101,
        prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 20 },
      },
      { promptTokens: 100, completionTokens: 1, cachedTokens: 90, cacheWriteTokens: 10 },
      'tokens written to the cache do not fit',
    ],
    [
      'audio, images and reasoning are fitted into the completion in the order in which they are charged',
      {
        prompt_tokens: 1,
        completion_tokens: 100,
        total_tokens: 101,
        completion_tokens_details: { audio_tokens: 60, image_tokens: 30, reasoning_tokens: 20 },
      },
      {
        promptTokens: 1,
        completionTokens: 100,
        audioCompletionTokens: 60,
        imageCompletionTokens: 30,
        reasoningTokens: 10,
      },
      'reasoning do not fit',
    ],
    [
      "Vercel's total omits reasoning",
      { prompt_tokens: 36, completion_tokens: 100, total_tokens: 136, market_cost: 0.1, ...reasoning(90) },
      { promptTokens: 36, completionTokens: 190, reasoningTokens: 90 },
    ],
    [
      'xAI counts reasoning in addition to the completion, with or without a total',
      { prompt_tokens: 36, completion_tokens: 100, cost_in_usd_ticks: 1, ...reasoning(90) },
      { promptTokens: 36, completionTokens: 190, reasoningTokens: 90 },
    ],
    [
      "Perplexity's research model counts reasoning and cited pages in addition to all totals",
      {
        prompt_tokens: 7,
        completion_tokens: 3847,
        total_tokens: 3854,
        citation_tokens: 20028,
        num_search_queries: 18,
        reasoning_tokens: 73997,
      },
      { promptTokens: 20035, completionTokens: 77844, reasoningTokens: 73997 },
    ],
    [
      'a total of zero is ignored',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 0 },
      { promptTokens: 36, completionTokens: 10 },
    ],
    [
      'cached tokens by kind',
      {
        prompt_tokens: 1000,
        completion_tokens: 31,
        total_tokens: 1031,
        prompt_tokens_details: {
          image_tokens: 900,
          cached_tokens: 1000,
          cached_tokens_details: { text_tokens: 100, image_tokens: 900 },
        },
      },
      {
        promptTokens: 1000,
        completionTokens: 31,
        cachedTokens: 1000,
        cachedImageTokens: 900,
        imagePromptTokens: 900,
      },
    ],
  ])
})

describe('Gemini:', () => {
  const modalities = (counts: Record<string, number>) =>
    Object.entries(counts).map(([modality, tokenCount]) => ({ modality, tokenCount }))
  suite(gemini, [
    [
      'thoughts that only the total includes',
      { promptTokenCount: 9, candidatesTokenCount: 664, totalTokenCount: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'thoughts in addition to the answer, as Google reports them',
      { promptTokenCount: 9, candidatesTokenCount: 664, thoughtsTokenCount: 1321, totalTokenCount: 1994 },
      { promptTokens: 9, completionTokens: 1985, reasoningTokens: 1321 },
    ],
    [
      'thoughts in addition to the answer, without a total',
      { promptTokenCount: 9, candidatesTokenCount: 664, thoughtsTokenCount: 21 },
      { promptTokens: 9, completionTokens: 685, reasoningTokens: 21 },
    ],
    [
      'cached images and audio, and images that tools read',
      {
        promptTokenCount: 1000,
        toolUsePromptTokenCount: 300,
        candidatesTokenCount: 31,
        totalTokenCount: 1331,
        cachedContentTokenCount: 1000,
        promptTokensDetails: modalities({ TEXT: 50, AUDIO: 50, IMAGE: 900 }),
        toolUsePromptTokensDetails: modalities({ TEXT: 42, IMAGE: 258 }),
        cacheTokensDetails: modalities({ TEXT: 50, AUDIO: 50, IMAGE: 900 }),
      },
      {
        promptTokens: 1300,
        completionTokens: 31,
        cachedTokens: 1000,
        cachedAudioTokens: 50,
        cachedImageTokens: 900,
        audioPromptTokens: 50,
        imagePromptTokens: 1158,
      },
    ],
    [
      'cached tokens in addition to the prompt, according to the total',
      { promptTokenCount: 10, candidatesTokenCount: 5, cachedContentTokenCount: 1000, totalTokenCount: 1015 },
      { promptTokens: 1010, completionTokens: 5, cachedTokens: 1000 },
    ],
  ])
})

describe('other dialects:', () => {
  suite(anthropic, [
    [
      'Anthropic includes thinking in the output',
      { input_tokens: 36, output_tokens: 700, output_tokens_details: { thinking_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'thinking that exceeds the output is added to it',
      { input_tokens: 36, output_tokens: 10, output_tokens_details: { thinking_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 thinking tokens of an output of 10',
    ],
  ])
  suite(cohere, [
    [
      'Cohere: reasoning that exceeds the output is added to it',
      { tokens: { input_tokens: 36, output_tokens: 10, reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 reasoning tokens of an output of 10',
    ],
    [
      'Cohere: an output of nothing but reasoning is complete as it is',
      { tokens: { input_tokens: 36, output_tokens: 690, reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 690, reasoningTokens: 690 },
    ],
  ])
  suite(bedrock, [
    [
      'Bedrock: tokens that only the total includes count as output',
      { inputTokens: 9, outputTokens: 664, totalTokens: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'Bedrock: cached tokens do not count as output',
      { inputTokens: 9, outputTokens: 64, totalTokens: 1073, cacheReadInputTokens: 1000 },
      { promptTokens: 1009, completionTokens: 64, cachedTokens: 1000 },
    ],
  ])
  suite(readRealtimeUsage, [
    [
      'Realtime: cached images have their own price',
      {
        input_tokens: 1000,
        output_tokens: 31,
        input_token_details: {
          image_tokens: 900,
          cached_tokens: 1000,
          cached_tokens_details: { text_tokens: 100, image_tokens: 900 },
        },
      },
      { promptTokens: 1000, completionTokens: 31, imagePromptTokens: 900, cachedTokens: 1000, cachedImageTokens: 900 },
    ],
    [
      'Realtime: images that do not fit beside the audio are reduced to the rest of the prompt',
      { input_tokens: 100, output_tokens: 1, input_token_details: { audio_tokens: 95, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 95, imagePromptTokens: 5 },
    ],
    [
      'Realtime: audio that exceeds the prompt costs the plain price',
      { input_tokens: 100, output_tokens: 1, input_token_details: { audio_tokens: 101, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, imagePromptTokens: 10 },
    ],
    [
      'Realtime: reasoning that exceeds the output is added to it',
      { input_tokens: 36, output_tokens: 10, output_token_details: { reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
  ])
})

describe('a later usage report for the same answer', () => {
  const real: Usage = { promptTokens: 36, completionTokens: 700, cachedTokens: 30, reasoningTokens: 690 }
  const raw = {
    prompt_tokens: 36,
    completion_tokens: 700,
    total_tokens: 736,
    prompt_tokens_details: { cached_tokens: 30 },
    ...reasoning(690),
  }

  test.each([
    ['of zeros is ignored', { promptTokens: 0, completionTokens: 0 }, real],
    ['without a completion is ignored', { promptTokens: 36, completionTokens: 0 }, real],
    [
      'without a prompt replaces only the completion',
      { promptTokens: 0, completionTokens: 800 },
      { promptTokens: 36, completionTokens: 800, cachedTokens: 30 },
    ],
    [
      'with more tokens replaces the first report',
      { promptTokens: 36, completionTokens: 800 },
      { promptTokens: 36, completionTokens: 800 },
    ],
    [
      'with fewer tokens also replaces the first report',
      { promptTokens: 36, completionTokens: 7 },
      { promptTokens: 36, completionTokens: 7 },
    ],
  ])('%s', (_, later, usage) => {
    expect(laterReport(real, later)).toEqual(usage)
    const laterRaw = {
      prompt_tokens: later.promptTokens,
      completion_tokens: later.completionTokens,
      total_tokens: later.promptTokens + later.completionTokens,
    }
    expect(readUsage(laterRawReport(raw, laterRaw))).toEqual(usage)
  })

  test('is used as it is if there was no earlier report, even if it is all zeros', () => {
    const zeros = { promptTokens: 0, completionTokens: 0 }
    expect(laterReport(undefined, zeros)).toBe(zeros)
  })
})

describe("the counts of Anthropic's later events", () => {
  const first = {
    input_tokens: 25,
    cache_read_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 40 },
    output_tokens: 1,
  }

  test('replace earlier counts', () => {
    expect(laterUsage(first, { input_tokens: 30, output_tokens: 12 })).toEqual({
      ...first,
      input_tokens: 30,
      output_tokens: 12,
    })
  })

  test('are ignored if they are zero or null', () => {
    const zeros = {
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: null,
    }
    expect(laterUsage(first, zeros)).toEqual(first)
  })
})

describe('reads all tokens of an embeddings response as prompt tokens:', () => {
  test.each([
    ['only a total', { total_tokens: 12 }, 12],
    ['a total larger than the prompt', { prompt_tokens: 4, total_tokens: 300 }, 300],
    ['a total equal to the prompt', { prompt_tokens: 12, total_tokens: 12 }, 12],
    ['only a prompt', { prompt_tokens: 12 }, 12],
  ])('%s', (_, usage, promptTokens) => {
    const { usage: read } = readReply('embeddings', { data: [], usage })
    expect(readUsage(read)).toEqual({ promptTokens, completionTokens: 0 })
  })
})
