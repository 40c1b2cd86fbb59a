import { expect, test } from 'bun:test'
import { contextTokens, maxOutputTokens } from './model-limits.ts'

test.each([
  ['gpt-4o', 16_384],
  ['gpt-4o-mini-2024-07-18', 16_384],
  ['gpt-4o-2024-05-13', 4096],
  ['gpt-4-turbo-2024-04-09', 4096],
  ['gpt-4', 8192],
  ['gpt-4-0613', 8192],
  ['gpt-35-turbo', 4096],
  ['gpt-4.1-nano', 32_768],
  ['o3-mini', 100_000],
  ['gpt-5-mini', 128_000],
  ['openai/gpt-5.2', 128_000],
  ['ft:gpt-4o-mini-2024-07-18:org::abc', 16_384],
  ['claude-3-haiku-20240307', 4096],
  ['claude-3-5-sonnet-20241022', 8192],
  ['claude-opus-4-1', 32_000],
  ['claude-sonnet-4-5-20250929', 64_000],
  ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', 64_000],
  ['gemini-2.5-pro', 65_536],
  ['gemini-1.5-flash', 8192],
  ['unheard-of', undefined],
  ['', undefined],
])('%s', (model, limit) => {
  expect(maxOutputTokens(model)).toBe(limit)
})

test.each([
  ['gpt-4o', 128_000],
  ['gpt-4.1-mini', 1_047_576],
  ['openai/gpt-5.2', 400_000],
  ['claude-haiku-4-5', 200_000],
  ['unheard-of', 1_048_576],
])('the context of %s', (model, tokens) => {
  expect(contextTokens(model)).toBe(tokens)
})
