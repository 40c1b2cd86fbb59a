// Conversations that move from one channel to another, with services that refuse reasoning from other services.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type Anthropic from '@anthropic-ai/sdk'
import type { Content } from '@google/genai'
import type OpenAI from 'openai'
import type { JsonObject } from '../../server/lib/json.ts'
import type { Clients } from './support/callers.ts'
import type { Said } from './support/fakes/fake.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'
import { type StrictChannel, strictChannels, strictly } from './support/strict.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(['claude-sonnet-4-5', 'gpt-5.1-codex', 'gemini-3-pro-preview', 'mistral-large-latest'])
})
afterAll(() => rig[Symbol.asyncDispose]())
beforeEach(() => rig.upstream.clear())

const names = Object.keys(strictChannels)
const channelOf = (name: string) => strictChannels[name] as StrictChannel

const called: Said = {
  thought: 'I have to look.',
  text: 'Let me look.',
  calls: [{ id: 'call_1', name: 'look', input: { at: 'sky' } }],
}
const spoken: Said = { thought: 'It is blue.', text: 'The sky is blue.', calls: [] }
const anyObject = { type: 'object', properties: {}, additionalProperties: true } as const

/** A client that stores its history as its SDK returns it, and can continue it on any channel. */
interface Program {
  /** Sends a question, or continues after a call. Resolves with the text and the names of the calls. */
  turn(clients: Clients, stream: boolean, text?: string): Promise<{ said: string; calls: string[] }>
}

const programs: Readonly<Record<string, () => Program>> = {
  'anthropic-messages': () => {
    const messages: Anthropic.MessageParam[] = []
    let open: Anthropic.ToolResultBlockParam[] = []
    return {
      async turn({ anthropic }, stream, text) {
        messages.push({ role: 'user', content: text ?? open })
        const body = {
          model,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
          tools: [{ name: 'look', input_schema: anyObject }],
          messages,
        } satisfies Anthropic.MessageCreateParamsNonStreaming
        const answer = stream
          ? await anthropic.messages.stream(body).finalMessage()
          : await anthropic.messages.create(body)
        messages.push({ role: 'assistant', content: answer.content })
        const calls = answer.content.filter((block) => block.type === 'tool_use')
        open = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'blue' }))
        return {
          said: answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
          calls: calls.map(({ name }) => name),
        }
      },
    }
  },
  'openai-responses': () => {
    const input: JsonObject[] = []
    let open: JsonObject[] = []
    return {
      async turn({ openai }, stream, text) {
        input.push(...(text === undefined ? open : [{ role: 'user', content: text }]))
        const body = {
          model,
          store: false,
          include: ['reasoning.encrypted_content'],
          reasoning: { effort: 'low', summary: 'auto' },
          tools: [{ type: 'function', name: 'look', parameters: anyObject, strict: false }],
          input,
        }
        const answer = stream
          ? await openai.responses.stream(body as never).finalResponse()
          : await openai.responses.create(body as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming)
        input.push(...(answer.output as unknown as JsonObject[]))
        const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
        open = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'blue' }))
        return { said: answer.output_text, calls: calls.map(({ name }) => name) }
      },
    }
  },
  gemini: () => {
    const contents: Content[] = []
    let open: Content['parts'] = []
    return {
      async turn({ google }, stream, text) {
        contents.push({ role: 'user', parts: text === undefined ? open : [{ text }] })
        const tools = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: anyObject }] }]
        const asked = { model, contents, config: { tools, thinkingConfig: { includeThoughts: true } } }
        const parts: NonNullable<Content['parts']> = []
        if (stream) {
          for await (const chunk of await google.models.generateContentStream(asked))
            parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
        } else {
          parts.push(...((await google.models.generateContent(asked)).candidates?.[0]?.content?.parts ?? []))
        }
        contents.push({ role: 'model', parts })
        const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
        open = calls.map(({ id, name }) => ({
          functionResponse: { ...(id && { id }), name: name ?? '', response: { output: 'blue' } },
        }))
        return {
          said: parts.flatMap(({ text: said, thought }) => (said && !thought ? [said] : [])).join(''),
          calls: calls.map(({ name }) => name ?? ''),
        }
      },
    }
  },
}

const moves = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const))

describe.each(Object.keys(programs))('a conversation of a caller who uses %s', (caller) => {
  for (const stream of [false, true]) {
    test.each(moves)(
      `moves from %s to %s and back in the middle of a tool call, ${stream ? 'streamed' : 'whole'}`,
      async (from, to) => {
        const program = (programs[caller] as () => Program)()
        const [first, second] = [channelOf(from), channelOf(to)]
        const at = async (channel: StrictChannel, said: Said, text?: string) => {
          rig.answer(strictly(channel, said))
          return program.turn(await rig.through(channel.setup), stream, text)
        }
        expect(await at(first, called, 'What colour is the sky?')).toEqual({ said: called.text, calls: ['look'] })
        expect(await at(second, called)).toEqual({ said: called.text, calls: ['look'] })
        expect(await at(first, spoken)).toEqual({ said: spoken.text, calls: [] })
        expect(await at(second, spoken, 'And at night?')).toEqual({ said: spoken.text, calls: [] })
        expect(await at(second, called, 'And now?')).toEqual({ said: called.text, calls: ['look'] })
      },
    )
  }
})
