// OpenAI's Agents SDK.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { model, prompt, speaks, token, tools, url } from './task-tools.mjs'

const agent = new Agent({
  name: 'clerk',
  instructions: 'Do as you are told.',
  model,
  tools: tools.map(({ name, description, schema, run }) =>
    tool({ name, description, parameters: schema, strict: true, execute: async (input) => run(input) }),
  ),
})
const modelProvider = new OpenAIProvider({ apiKey: token, baseURL: `${url}/v1`, useResponses: speaks === 'Responses' })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const result = await runner.run(agent, prompt, { stream: true })
for await (const piece of result.toTextStream()) process.stdout.write(piece)
await result.completed
if (!(result.state.usage.totalTokens > 0)) throw new Error('no usage was told')
