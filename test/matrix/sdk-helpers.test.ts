// The helpers of the official SDKs for tool loops and structured answers, against every upstream format.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import type { CallableTool, FunctionCall } from '@google/genai'
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import { type Clients, callerNames } from './support/callers.ts'
import { fakeOf, says } from './support/fakes/index.ts'
import { scenarios } from './support/features.ts'
import { mappedModels } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'
import { formatServices } from './support/services.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

const city = z.strictObject({ city: z.string() })
const capital = z.strictObject({ capital_city: z.string() })
const question = 'Are Paris and Rome capitals?'
const messages = [{ role: 'user' as const, content: question }]

/** Runs a tool loop as each SDK does and returns the final text. */
type Loop = (clients: Clients, lookUp: (city: string) => string, stream: boolean) => Promise<string>

const loops: Readonly<Record<CallerDialect, Loop>> = {
  'openai-chat': async ({ openai }, lookUp, stream) => {
    const run = (args: z.infer<typeof city>) => lookUp(args.city)
    const tools = [zodFunction({ name: 'look_up', parameters: city, function: run })]
    const runner = stream
      ? openai.chat.completions.runTools({ model, messages, tools, stream: true })
      : openai.chat.completions.runTools({ model, messages, tools })
    return (await runner.finalContent()) ?? ''
  },
  'openai-responses': async ({ openai }, lookUp, stream) => {
    const tools = [{ type: 'function' as const, name: 'look_up', parameters: z.toJSONSchema(city), strict: true }]
    const input: unknown[] = [...messages]
    for (let turn = 0; turn < 3; turn++) {
      const body = { model, input: input as never, tools }
      const answer = stream
        ? await openai.responses.stream(body).finalResponse()
        : await openai.responses.create({ ...body, stream: false })
      const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      if (calls.length === 0) return answer.output_text
      input.push(...answer.output)
      for (const { call_id, arguments: json } of calls)
        input.push({ type: 'function_call_output', call_id, output: lookUp(city.parse(JSON.parse(json)).city) })
    }
    return ''
  },
  'anthropic-messages': async ({ anthropic }, lookUp, stream) => {
    const run = (args: z.infer<typeof city>) => lookUp(args.city)
    const tools = [betaZodTool({ name: 'look_up', description: 'Looks up', inputSchema: city, run })]
    const runner = anthropic.beta.messages.toolRunner({ model, max_tokens: 1000, messages, tools, stream })
    const last = await runner.runUntilDone()
    return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  gemini: async ({ google }, lookUp, stream) => {
    const tool: CallableTool = {
      tool: () =>
        Promise.resolve({ functionDeclarations: [{ name: 'look_up', parametersJsonSchema: z.toJSONSchema(city) }] }),
      callTool: (calls: FunctionCall[]) =>
        Promise.resolve(
          calls.map(({ id, name, args }) => ({
            functionResponse: {
              ...(id !== undefined && { id }),
              name: name ?? '',
              response: { answer: lookUp(city.parse(args).city) },
            },
          })),
        ),
    }
    const request = { model, contents: question, config: { tools: [tool] } }
    if (!stream) return (await google.models.generateContent(request)).text ?? ''
    let text = ''
    for await (const chunk of await google.models.generateContentStream(request)) text += chunk.text ?? ''
    return text
  },
}

/** Requests an answer with a schema and returns what the SDK parsed. */
type Parse = (clients: Clients) => Promise<unknown>

const parses: Readonly<Record<CallerDialect, Parse>> = {
  'openai-chat': async ({ openai }) => {
    const response_format = zodResponseFormat(capital, 'answer')
    const answer = await openai.chat.completions.parse({ model, messages, response_format })
    return answer.choices[0]?.message.parsed
  },
  'openai-responses': async ({ openai }) => {
    const text = { format: zodTextFormat(capital, 'answer') }
    return (await openai.responses.parse({ model, input: question, text })).output_parsed
  },
  'anthropic-messages': async ({ anthropic }) => {
    const output_config = { format: zodOutputFormat(capital) }
    return (await anthropic.messages.parse({ model, max_tokens: 1000, messages, output_config })).parsed_output
  },
  gemini: async ({ google }) => {
    const config = { responseMimeType: 'application/json', responseJsonSchema: z.toJSONSchema(capital) }
    const { text = '' } = await google.models.generateContent({ model, contents: question, config })
    return capital.parse(JSON.parse(text))
  },
}

describe('helpers of the official SDKs', () => {
  for (const { provider, dialect, setup } of formatServices) {
    const fake = fakeOf(provider, dialect)
    for (const to of callerNames) {
      test(`run a loop with two parallel calls in ${to} against a service that uses ${dialect}`, async () => {
        const clients = await rig.through(setup)
        for (const stream of [false, true]) {
          rig.answer(says(fake, scenarios['parallel tools'].said), says(fake, scenarios.plain.said))
          const asked: string[] = []
          const lookUp = (name: string) => {
            asked.push(name)
            return `${name} is a capital`
          }
          expect(await loops[to](clients, lookUp, stream)).toBe(scenarios.plain.said.text)
          expect(asked).toEqual(['Paris', 'Rome'])
          const second = Buffer.from(rig.upstream.last.body).toString()
          expect([second.includes('Paris is a capital'), second.includes('Rome is a capital')]).toEqual([true, true])
        }
      })

      test(`parse an answer with a schema in ${to} from a service that uses ${dialect}`, async () => {
        rig.answer(says(fake, scenarios.structured.said))
        expect(await parses[to](await rig.through(setup))).toEqual({ capital_city: 'Paris' })
      })
    }
  }
})
