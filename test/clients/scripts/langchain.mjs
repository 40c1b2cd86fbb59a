// LangChain: an agent made with createAgent.
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { model, prompt, speaks, token, tools, url } from './task-tools.mjs'

const openai = (more) =>
  new ChatOpenAI({ model, apiKey: token, maxRetries: 0, configuration: { baseURL: `${url}/v1` }, ...more })
const models = {
  chat: () => openai({ useResponsesApi: false }),
  Responses: () => openai({ useResponsesApi: true }),
  Messages: () => new ChatAnthropic({ model, apiKey: token, anthropicApiUrl: url, maxRetries: 0 }),
  Gemini: () => new ChatGoogleGenerativeAI({ model, apiKey: token, baseUrl: url, maxRetries: 0 }),
}

const agent = createAgent({
  model: models[speaks](),
  tools: tools.map(({ name, description, schema, run }) =>
    tool(async (input) => run(input), { name, description, schema }),
  ),
})
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] })
const last = messages.at(-1)
console.log(last.text)
if (!(last.usage_metadata?.total_tokens > 0)) throw new Error('no usage was told')
