// Automatic function calling of Google's SDK.
import { GoogleGenAI } from '@google/genai'
import { model, prompt, token, tools, url } from './task-tools.mjs'

const client = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: url } })
const callable = {
  tool: async () => ({
    functionDeclarations: tools.map(({ name, description, schema }) => ({
      name,
      description,
      parametersJsonSchema: schema,
    })),
  }),
  callTool: async (calls) =>
    calls.map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: tools.find((each) => each.name === name).run(args) } },
    })),
}
const answer = await client.models.generateContent({ model, contents: prompt, config: { tools: [callable] } })
console.log(answer.text)
if (!(answer.usageMetadata.totalTokenCount > 0)) throw new Error('no usage was told')
