// Vercel's AI SDK with its providers for OpenAI, Anthropic and Google, each with every upstream format.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateText, isStepCount, Output, streamText, tool } from 'ai'
import { z } from 'zod'
import type { CallerDialect } from '../../contract/relay-paths.ts'
import { callerNames } from './support/callers.ts'
import { used } from './support/fakes/fake.ts'
import { fakeOf, says } from './support/fakes/index.ts'
import { scenarios } from './support/features.ts'
import { casesOf, formats, mappedModels, readRecorded, replayed } from './support/recorded.ts'
import { model, type Rig, type Setup, startMatrixRig } from './support/rig.ts'
import { formatServices } from './support/services.ts'
import { askVercel, vercelModels } from './support/vercel.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

async function modelOf(setup: Setup, to: CallerDialect) {
  return vercelModels(rig.gateway.url, await rig.token(setup), model)[to]
}

/**
 * OpenAI's chat dialect has no field for reasoning, and the SDK's provider for it does not read the reasoning of other
 * services.
 */
const showsThoughts = (to: CallerDialect) => to !== 'openai-chat'

describe('the AI SDK', () => {
  for (const { provider, dialect, setup } of formatServices) {
    const fake = fakeOf(provider, dialect)
    for (const to of callerNames) {
      test(`runs a tool loop in ${to} against a service that uses ${dialect}, streamed and not`, async () => {
        const asked: unknown[] = []
        const look_up = tool({
          description: 'Looks up a city',
          inputSchema: z.strictObject({ city: z.string() }),
          execute: ({ city }) => {
            asked.push(city)
            return { capital: true }
          },
        })
        const options = { model: await modelOf(setup, to), prompt: 'Is Paris a capital?', tools: { look_up } }
        const steps = { stopWhen: isStepCount(3), maxRetries: 0 }
        for (const stream of [false, true]) {
          rig.answer(says(fake, scenarios.tools.said), says(fake, scenarios.reasoning.said))
          const result = stream ? streamText({ ...options, ...steps }) : await generateText({ ...options, ...steps })
          expect(await result.text).toBe(scenarios.reasoning.said.text)
          expect((await result.finalStep).reasoningText ?? '').toBe(
            showsThoughts(to) ? scenarios.reasoning.said.thought : '',
          )
          expect((await result.steps).length).toBe(2)
          const { inputTokens, outputTokens } = await result.totalUsage
          expect([inputTokens, outputTokens]).toEqual([2 * used.prompt, 2 * used.completion])
          // The second request contains the tool's result.
          const second = Buffer.from(rig.upstream.last.body).toString().replaceAll('\\', '')
          expect(second).toContain('"capital":true')
        }
        expect(asked).toEqual(['Paris', 'Paris'])
      })

      test(`parses structured output in ${to} from a service that uses ${dialect}, streamed and not`, async () => {
        const output = Output.object({ schema: z.strictObject({ capital_city: z.string() }) })
        const options = { model: await modelOf(setup, to), prompt: 'The capital of France?', output, maxRetries: 0 }
        rig.answer(says(fake, scenarios.structured.said))
        expect((await generateText(options)).output).toEqual({ capital_city: 'Paris' })
        const streamed = streamText(options)
        const parts: unknown[] = []
        for await (const part of streamed.partialOutputStream) parts.push(part)
        expect(parts.at(-1)).toEqual({ capital_city: 'Paris' })
        expect(await streamed.output).toEqual({ capital_city: 'Paris' })
      })
    }
  }
})

/**
 * Tags of recordings that this test skips: they have no answer, an incomplete answer, or several answers, which this
 * SDK merges into one.
 */
const failing = ['error_in_200', 'midstream_error', 'truncated_stream', 'n>1']

for (const [formatNumber, format] of formats.entries()) {
  describe(`recorded answers of ${format.name} can be read by the AI SDK`, () => {
    for (const [number, recording] of casesOf(format, { status: 'ok', without: failing }).entries()) {
      const recorded = readRecorded(format, recording)
      const others = callerNames.filter((name) => name !== format.name)
      // Each recording is tested in one dialect, and the next recording in another. The tests with the official SDKs
      // check every recording in every dialect.
      const to = others[(number + formatNumber) % others.length]
      if (!recorded || !to) continue
      test(`${recording.id} is read in ${to}`, async () => {
        // The bytes are split at arbitrary offsets, as a network splits them.
        rig.answer(replayed(recording, 211))
        const text = 'What is this? '.repeat(1 + Math.ceil((recorded.usage?.prompt ?? 0) / 40))
        const tools = [...new Set(recorded.calls.map(({ name }) => name))]
        const stream = recording.kind !== 'json'
        const learned = await askVercel(await modelOf(format.setup(recording), to), { text, tools, stream })
        const { prompt = 0, completion = 0 } = recorded.usage ?? {}
        expect({
          text: learned.text,
          thought: learned.thought,
          calls: learned.calls.map(({ name, input }) => ({ name, input })),
          tokens: recorded.usage && [learned.usage?.prompt, learned.usage?.completion],
        }).toEqual({
          text: to === 'gemini' || to === 'openai-chat' ? recorded.text : recorded.text + recorded.spoken,
          thought: showsThoughts(to) ? recorded.thought : '',
          calls: recorded.calls.map(({ name, input }) => ({ name, input })),
          tokens: recorded.usage && [prompt, completion],
        })
      })
    }
  })
}
