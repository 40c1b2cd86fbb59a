// Tests for each dialect which tokens of an upstream's usage are included in its totals and which are counted in
// addition to them.
import { describe, expect, test } from 'bun:test'
import type { Usage } from '../../contract/usage.ts'
import type { JsonObject } from '../lib/json.ts'
import { usageIn as anthropic, laterUsage } from './anthropic-messages/usage.ts'
import { usageIn as bedrock } from './bedrock-converse/reply.ts'
import { usageIn as cohere } from './cohere-chat/reply.ts'
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

const reasoning = (tokens: number) => ({ completion_tokens_details: { reasoning_tokens: tokens } })

describe("OpenAI's chat and Responses, and all services that use these dialects:", () => {
  suite(readUsage, [
    [
      'reasoning inside the completion, as the total says',
      { prompt_tokens: 36, completion_tokens: 700, total_tokens: 736, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'reasoning beside the completion, as the total says (xAI)',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 736, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'more reasoning than completion, without a total',
      { prompt_tokens: 36, completion_tokens: 10, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'more reasoning than completion, with a total that leaves it out',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 46, ...reasoning(690) },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'the same in the words of the Responses API',
      { input_tokens: 36, output_tokens: 10, output_tokens_details: { reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 of a completion of 10',
    ],
    [
      'thoughts that only the total tells',
      { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'thoughts that only the total tells, the completion left out',
      { prompt_tokens: 9, total_tokens: 1330 },
      { promptTokens: 9, completionTokens: 1321 },
      '1321 tokens of the total',
    ],
    [
      'some reasoning told, and more in the total',
      { prompt_tokens: 9, completion_tokens: 664, total_tokens: 1994, ...reasoning(1000) },
      { promptTokens: 9, completionTokens: 1985, reasoningTokens: 1000 },
      '1321 tokens of the total',
    ],
    [
      'reasoning and the cached prompt beside the totals',
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
      'sound of the answer beside the completion',
      {
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 130,
        completion_tokens_details: { audio_tokens: 100 },
      },
      { promptTokens: 10, completionTokens: 120, audioCompletionTokens: 100 },
    ],
    [
      'images of the prompt beside it',
      { prompt_tokens: 10, completion_tokens: 20, total_tokens: 288, prompt_tokens_details: { image_tokens: 258 } },
      { promptTokens: 268, completionTokens: 20, imagePromptTokens: 258 },
    ],
    [
      "the cache in Anthropic's words, beside the prompt",
      { prompt_tokens: 10, completion_tokens: 20, cache_read_input_tokens: 1000 },
      { promptTokens: 1010, completionTokens: 20, cachedTokens: 1000 },
      '1000 of a prompt of 10',
    ],
    [
      "the cache in Anthropic's words, inside the prompt",
      { prompt_tokens: 1010, completion_tokens: 20, total_tokens: 1030, cache_read_input_tokens: 1000 },
      { promptTokens: 1010, completionTokens: 20, cachedTokens: 1000 },
    ],
    [
      'more cached tokens than prompt (Azure with Grok): the plain price',
      { prompt_tokens: 293, completion_tokens: 58, total_tokens: 351, prompt_tokens_details: { cached_tokens: 387 } },
      { promptTokens: 293, completionTokens: 58 },
      'cached tokens do not fit',
    ],
    [
      'sound that fits, and images that are too many beside it: the rest is images',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 95, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 95, imagePromptTokens: 5 },
      'images of the prompt do not fit',
    ],
    [
      'sound that fills the prompt leaves no room for images',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 100, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 100 },
      'images of the prompt do not fit',
    ],
    [
      'sound that is too much by itself costs the plain price, and images beside it their own',
      { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { audio_tokens: 101, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, imagePromptTokens: 10 },
      'sound of the prompt do not fit',
    ],
    [
      'tokens written to the cache beside those that were read from it',
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
      'sound, images and reasoning of a completion, in the order in which they are charged',
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
      "Vercel's total leaves reasoning out",
      { prompt_tokens: 36, completion_tokens: 100, total_tokens: 136, market_cost: 0.1, ...reasoning(90) },
      { promptTokens: 36, completionTokens: 190, reasoningTokens: 90 },
    ],
    [
      'xAI counts reasoning beside the completion, with or without a total',
      { prompt_tokens: 36, completion_tokens: 100, cost_in_usd_ticks: 1, ...reasoning(90) },
      { promptTokens: 36, completionTokens: 190, reasoningTokens: 90 },
    ],
    [
      "Perplexity's research counts reasoning and cited pages beside all totals",
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
      'a total of nothing says nothing',
      { prompt_tokens: 36, completion_tokens: 10, total_tokens: 0 },
      { promptTokens: 36, completionTokens: 10 },
    ],
    [
      'kinds of what was cached',
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
      'thoughts that only the total tells',
      { promptTokenCount: 9, candidatesTokenCount: 664, totalTokenCount: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'thoughts beside the answer, as Google tells them',
      { promptTokenCount: 9, candidatesTokenCount: 664, thoughtsTokenCount: 1321, totalTokenCount: 1994 },
      { promptTokens: 9, completionTokens: 1985, reasoningTokens: 1321 },
    ],
    [
      'thoughts beside the answer, without a total',
      { promptTokenCount: 9, candidatesTokenCount: 664, thoughtsTokenCount: 21 },
      { promptTokens: 9, completionTokens: 685, reasoningTokens: 21 },
    ],
    [
      'images and sound that were cached, and images that tools read',
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
      'what was cached beside the prompt, as the total says',
      { promptTokenCount: 10, candidatesTokenCount: 5, cachedContentTokenCount: 1000, totalTokenCount: 1015 },
      { promptTokens: 1010, completionTokens: 5, cachedTokens: 1000 },
    ],
  ])
})

describe('other dialects:', () => {
  suite(anthropic, [
    [
      'Anthropic counts thinking inside the output',
      { input_tokens: 36, output_tokens: 700, output_tokens_details: { thinking_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
    ],
    [
      'more thinking than output is beside it',
      { input_tokens: 36, output_tokens: 10, output_tokens_details: { thinking_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 thinking tokens of an output of 10',
    ],
  ])
  suite(cohere, [
    [
      'Cohere: more reasoning than output is beside it',
      { tokens: { input_tokens: 36, output_tokens: 10, reasoning_tokens: 690 } },
      { promptTokens: 36, completionTokens: 700, reasoningTokens: 690 },
      '690 reasoning tokens of an output of 10',
    ],
  ])
  suite(bedrock, [
    [
      'Bedrock: what only the total tells is output',
      { inputTokens: 9, outputTokens: 664, totalTokens: 1994 },
      { promptTokens: 9, completionTokens: 1985 },
      '1321 tokens of the total',
    ],
    [
      'Bedrock: what was cached is no output',
      { inputTokens: 9, outputTokens: 64, totalTokens: 1073, cacheReadInputTokens: 1000 },
      { promptTokens: 1009, completionTokens: 64, cachedTokens: 1000 },
    ],
  ])
  suite(readRealtimeUsage, [
    [
      'Realtime: cached images have a price of their own',
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
      'Realtime: images beside sound are cut to the room that is left',
      { input_tokens: 100, output_tokens: 1, input_token_details: { audio_tokens: 95, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, audioPromptTokens: 95, imagePromptTokens: 5 },
    ],
    [
      'Realtime: sound that is too much by itself costs the plain price',
      { input_tokens: 100, output_tokens: 1, input_token_details: { audio_tokens: 101, image_tokens: 10 } },
      { promptTokens: 100, completionTokens: 1, imagePromptTokens: 10 },
    ],
    [
      'Realtime: more reasoning than output is beside it',
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
    ['of zeros says nothing', { promptTokens: 0, completionTokens: 0 }, real],
    ['without a completion says nothing', { promptTokens: 36, completionTokens: 0 }, real],
    [
      'without a prompt is about the completion',
      { promptTokens: 0, completionTokens: 800 },
      { promptTokens: 36, completionTokens: 800, cachedTokens: 30 },
    ],
    ['with more holds', { promptTokens: 36, completionTokens: 800 }, { promptTokens: 36, completionTokens: 800 }],
    ['with less holds, too', { promptTokens: 36, completionTokens: 7 }, { promptTokens: 36, completionTokens: 7 }],
  ])('%s', (_, later, usage) => {
    expect(laterReport(real, later)).toEqual(usage)
    const laterRaw = {
      prompt_tokens: later.promptTokens,
      completion_tokens: later.completionTokens,
      total_tokens: later.promptTokens + later.completionTokens,
    }
    expect(readUsage(laterRawReport(raw, laterRaw))).toEqual(usage)
  })

  test('the first report is kept unchanged, including zeros', () => {
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

describe('embeddings and reranking have only a prompt:', () => {
  test.each([
    ['the total alone', { total_tokens: 12 }, 12],
    ['a total that is more than the prompt', { prompt_tokens: 4, total_tokens: 300 }, 300],
    ['a total that is the prompt', { prompt_tokens: 12, total_tokens: 12 }, 12],
    ['a prompt alone', { prompt_tokens: 12 }, 12],
  ])('%s', (_, usage, promptTokens) => {
    const { usage: read } = readReply('embeddings', { data: [], usage })
    expect(readUsage(read)).toEqual({ promptTokens, completionTokens: 0 })
  })
})
