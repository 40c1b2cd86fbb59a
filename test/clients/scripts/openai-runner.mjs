// The tool runner of OpenAI's SDK.
import OpenAI from 'openai'
import { model, prompt, token, tools, url } from './task-tools.mjs'

const client = new OpenAI({ apiKey: token, baseURL: `${url}/v1`, maxRetries: 0 })
const runner = client.chat.completions.runTools({
  model,
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: prompt }],
  tools: tools.map(({ name, description, schema, run }) => ({
    type: 'function',
    function: { name, description, parameters: schema, parse: JSON.parse, function: async (input) => run(input) },
  })),
})
console.log(await runner.finalContent())
const { total_tokens: total } = await runner.totalUsage()
if (!(total > 0)) throw new Error('no usage was told')
