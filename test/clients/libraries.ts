import type { Client } from './programs.ts'
import { prompt } from './tasks.ts'

type Speaks = Client['speaks']

const models: Readonly<Record<Speaks, string>> = {
  chat: 'any-model',
  Responses: 'gpt-5.1',
  Messages: 'claude-sonnet-4-6',
  Gemini: 'gemini-2.5-flash',
}

/** The clients for one library, one for each dialect that the library supports. A script of ours drives the library. */
export function library(
  name: string,
  id: string,
  script: string,
  packages: Readonly<Record<string, string>>,
  speaks: readonly Speaks[],
): Client[] {
  return speaks.map((dialect) => ({
    name,
    id,
    packages,
    speaks: dialect,
    model: models[dialect],
    run: { script },
    start: ({ url, token }) => ({
      args: [],
      env: {
        TASK_URL: url,
        TASK_TOKEN: token,
        TASK_MODEL: models[dialect],
        TASK_PROMPT: prompt,
        TASK_SPEAKS: dialect,
      },
    }),
  }))
}

const vercel = (ai: string, openai: string, anthropic: string, google: string) => ({
  ai,
  '@ai-sdk/openai': openai,
  '@ai-sdk/anthropic': anthropic,
  '@ai-sdk/google': google,
  zod: '4.6.7',
})
const all = ['chat', 'Responses', 'Messages', 'Gemini'] as const

/** Every library, in the order of the table. */
export const libraries: readonly Client[] = [
  ...library('Vercel AI SDK 6', 'vercel-6', 'vercel.mjs', vercel('6.0.325', '3.0.141', '3.0.140', '3.0.141'), all),
  ...library('Vercel AI SDK 7', 'vercel-7', 'vercel.mjs', vercel('7.0.173', '4.0.118', '4.0.105', '4.0.121'), all),
  ...library(
    'LangChain',
    'langchain',
    'langchain.mjs',
    {
      langchain: '1.5.14',
      '@langchain/core': '1.4.0',
      '@langchain/openai': '1.6.0',
      '@langchain/anthropic': '1.5.11',
      '@langchain/google-genai': '2.3.2',
    },
    all,
  ),
  ...library('OpenAI Agents SDK', 'openai-agents', 'openai-agents.mjs', { '@openai/agents': '0.20.0', zod: '4.6.7' }, [
    'chat',
    'Responses',
  ]),
  ...library('OpenAI SDK, runTools', 'openai-runner', 'openai-runner.mjs', { openai: '7.59.0' }, ['chat']),
  ...library(
    'Anthropic SDK, tool runner',
    'anthropic-runner',
    'anthropic-runner.mjs',
    { '@anthropic-ai/sdk': '1.14.0' },
    ['Messages'],
    // This client first requests a thread. If the channel does not store threads, it then sends the whole conversation.
  ).map((client) => ({ ...client, expects: ['thread_not_supported'] })),
  ...library('Google Gen AI SDK, automatic calls', 'google-afc', 'google-afc.mjs', { '@google/genai': '3.3.0' }, [
    'Gemini',
  ]),
]
