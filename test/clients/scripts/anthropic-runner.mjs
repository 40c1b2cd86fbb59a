// The tool runner of Anthropic's SDK.
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { model, prompt, token, tools, url } from './task-tools.mjs'

const client = new Anthropic({ apiKey: token, baseURL: url, maxRetries: 0 })
const runner = client.beta.messages.toolRunner({
  model,
  max_tokens: 1000,
  stream: true,
  messages: [{ role: 'user', content: prompt }],
  tools: tools.map(({ name, description, schema, run }) =>
    betaTool({ name, description, inputSchema: schema, run: (input) => run(input) }),
  ),
})
let last
for await (const stream of runner) last = await stream.finalMessage()
console.log(last.content.map((block) => block.text ?? '').join(''))
if (!(last.usage.output_tokens > 0)) throw new Error('no usage was told')
