// Vercel's AI SDK: a streamed tool loop.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { model, prompt, speaks, token, tools, url } from './task-tools.mjs'

const options = { baseURL: `${url}/v1`, apiKey: token }
const models = {
  chat: () => createOpenAI(options).chat(model),
  Responses: () => createOpenAI(options).responses(model),
  Messages: () => createAnthropic(options)(model),
  Gemini: () => createGoogleGenerativeAI({ ...options, baseURL: `${url}/v1beta` })(model),
}

const result = streamText({
  model: models[speaks](),
  prompt,
  stopWhen: stepCountIs(10),
  maxRetries: 0,
  tools: Object.fromEntries(
    tools.map(({ name, description, schema, run }) => [
      name,
      tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => run(input) }),
    ]),
  ),
  onError({ error }) {
    throw error
  },
})
for await (const piece of result.textStream) process.stdout.write(piece)
const { inputTokens, outputTokens } = await result.totalUsage
if (!(inputTokens > 0 && outputTokens > 0)) throw new Error('no usage was told')
