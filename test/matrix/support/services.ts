import type { Setup } from './rig.ts'

/** One service for each format, chosen because it supports every feature, and a channel to it. */
export const formatServices: readonly { provider: string; dialect: string; setup: Setup }[] = [
  { provider: 'custom', dialect: 'openai-chat', setup: { type: 8 } },
  { provider: 'openai', dialect: 'openai-responses', setup: { type: 1, model_mapping: '{"any-model":"o1-pro"}' } },
  { provider: 'anthropic', dialect: 'anthropic-messages', setup: { type: 14 } },
  { provider: 'gemini', dialect: 'gemini', setup: { type: 24 } },
  { provider: 'bedrock', dialect: 'bedrock-converse', setup: { type: 33, key: 'api-key|us-east-1' } },
  { provider: 'cohere', dialect: 'cohere-chat', setup: { type: 35 } },
  { provider: 'ollama', dialect: 'ollama-chat', setup: { type: 30 } },
  { provider: 'ali', dialect: 'dashscope', setup: { type: 17 } },
]
