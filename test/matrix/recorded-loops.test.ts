// Recorded tool loops, run step by step by the AI SDK in a dialect other than the recorded one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import { listSequences, loadCase } from '../helpers/recordings.ts'
import { callerNames } from './support/callers.ts'
import { formats, mappedModels, readRecorded, replayed } from './support/recorded.ts'
import { model, type Rig, startMatrixRig } from './support/rig.ts'
import { vercelModels } from './support/vercel.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(mappedModels)
})
afterAll(() => rig[Symbol.asyncDispose]())

const anyInput = jsonSchema({ type: 'object', properties: {}, additionalProperties: true })
const toolAnswer = 'what the tool found'

describe('recorded tool loops', () => {
  for (const [number, { api, cases }] of listSequences().entries()) {
    const format = formats.find(({ apis }) => apis.includes(api))
    const steps = cases.map(loadCase)
    if (!format || steps.some((step) => format.isMeant?.(step) === false || step.status !== 200)) continue
    const told = steps.flatMap((step) => readRecorded(format, step) ?? [])
    // In a usable recording, every answer except the last calls tools of the caller.
    const isLoop = told.length === steps.length && told.slice(0, -1).every(({ calls }) => calls.length > 0)
    if (!isLoop || told.at(-1)?.calls.length !== 0) continue
    const others = callerNames.filter((name) => name !== format.name)
    const to = others[number % others.length] ?? 'openai-chat'
    test(`the loop of ${cases[0]} and ${cases.length - 1} more cases works in ${to}`, async () => {
      rig.answer(...(steps.map((step) => replayed(step)) as [ReturnType<typeof replayed>]))
      const names = [...new Set(told.flatMap(({ calls }) => calls.map(({ name }) => name)))]
      const ran: [string, unknown][] = []
      const tools = Object.fromEntries(
        names.map((name) => [
          name,
          tool({
            inputSchema: anyInput,
            execute: (input) => {
              ran.push([name, input])
              return toolAnswer
            },
          }),
        ]),
      )
      const [first] = steps
      const token = await rig.token(format.setup(first ?? loadCase(cases[0] ?? '')))
      const options = {
        model: vercelModels(rig.gateway.url, token, model)[to],
        prompt: 'What is this? '.repeat(600),
        tools,
        maxRetries: 0,
        stopWhen: isStepCount(steps.length + 1),
      }
      const result = first?.kind === 'json' ? await generateText(options) : streamText(options)
      expect(await result.text).toBe(told.at(-1)?.text ?? '')
      expect((await result.steps).length).toBe(steps.length)
      expect(ran).toEqual(
        told.flatMap(({ calls }) => calls.map(({ name, input }) => [name, input] as [string, unknown])),
      )
      const { length } = rig.upstream.requests
      const last = Buffer.from(rig.upstream.requests[length - 1]?.body ?? []).toString()
      expect(last.split(toolAnswer).length - 1).toBe(ran.length)
    })
  }
})
