import { library } from './libraries.ts'
import type { Client } from './programs.ts'

const all = ['chat', 'Responses', 'Messages', 'Gemini'] as const

/** Every library from PyPI, in the order of the table. */
export const pythonLibraries: readonly Client[] = [
  ...library('OpenAI SDK', 'py-openai', 'openai_sdk.py', { openai: '3.57.0' }, ['chat', 'Responses']),
  ...library(
    'Anthropic SDK, tool runner',
    'py-anthropic',
    'anthropic_sdk.py',
    { anthropic: '2.14.0' },
    ['Messages'],
    // This client first requests a thread. If the channel does not store threads, it then sends the whole conversation.
  ).map((client) => ({ ...client, expects: ['thread_not_supported'] })),
  ...library('Google Gen AI SDK, automatic calls', 'py-google', 'google_sdk.py', { 'google-genai': '3.6.1' }, [
    'Gemini',
  ]),
  ...library(
    'LangChain',
    'py-langchain',
    'langchain_agent.py',
    {
      langchain: '1.5.2',
      'langchain-openai': '1.7.4',
      'langchain-anthropic': '1.7.10',
      'langchain-google-genai': '4.4.3',
    },
    all,
  ),
  ...library('LiteLLM', 'py-litellm', 'litellm_loop.py', { litellm: '1.110.2' }, all),
  ...library(
    'Pydantic AI',
    'py-pydantic',
    'pydantic_ai_agent.py',
    { 'pydantic-ai-slim[openai,anthropic,google]': '2.68.0' },
    all,
  ),
  ...library('instructor', 'py-instructor', 'instructor_object.py', { 'instructor[anthropic]': '1.17.0' }, [
    'chat',
    'Messages',
  ]).map((client) => ({ ...client, asksForObject: true as const })),
  ...library('smolagents', 'py-smolagents', 'smolagents_agent.py', { 'smolagents[openai]': '1.26.0' }, ['chat']),
].map((client) => ({ ...client, asksWithWrongToken: true as const }))
