import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { listSequences, loadCase, type RecordingCase } from '../helpers/recordings.ts'
import { recordedModels, recordedUsage, requestOf, setupOf } from './support/cases.ts'
import { outcomeOf } from './support/outcome.ts'
import { expectedCharge } from './support/prices.ts'
import { type Rig, recorded, startRelayRig } from './support/rig.ts'

const loops = listSequences({ api: 'chat' })
  .map(({ cases }) => cases.map((id) => loadCase(id)))
  .filter((steps) => steps.every(({ requestJson }) => isObject(requestJson)))

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig(recordedModels(loops.flat()))
})
afterAll(() => rig[Symbol.asyncDispose]())

/** The recorded tools, with functions that return the recorded results call by call. */
function runnableTools(steps: readonly RecordingCase[]): unknown[] {
  const last = requestOf(steps.at(-1) as RecordingCase)
  const results = (last['messages'] as JsonObject[]).filter(({ role }) => role === 'tool').map(({ content }) => content)
  const tools = requestOf(steps[0] as RecordingCase)['tools']
  return (Array.isArray(tools) ? (tools as JsonObject[]) : []).map((tool) => ({
    ...tool,
    function: { ...(tool['function'] as object), function: () => results.shift() ?? 'done' },
  }))
}

/** Runs the loop with the SDK. Returns what was sent and received, and the final conversation. */
async function runLoop(client: OpenAI, steps: readonly RecordingCase[]): Promise<unknown> {
  rig.answer(...(steps.map(recorded) as [ReturnType<typeof recorded>]))
  const body = { ...requestOf(steps[0] as RecordingCase), tools: runnableTools(steps) }
  // If the request forces a single tool, the SDK ends the loop after the answer that calls it.
  const params = body as unknown as Parameters<typeof client.chat.completions.runTools>[0]
  const runner = client.chat.completions.runTools(params, { maxChatCompletions: steps.length })
  const outcome = await outcomeOf(() => runner.done())
  const sent = rig.upstream.requests.map(({ fields }) => {
    const { stream_options: _asked, ...rest } = fields
    return rest
  })
  return { outcome, sent, messages: runner.messages, completions: runner.allChatCompletions() }
}

describe('recorded tool loops through runTools', () => {
  for (const steps of loops) {
    const [first] = steps
    if (!first) continue
    test(`${first.id} (${steps.length} steps)`, async () => {
      const client = await rig.through(setupOf(first))
      const direct = await runLoop(rig.direct, steps)
      const before = await rig.logCount()
      const through = await runLoop(client, steps)
      expect(JSON.parse(JSON.stringify(through))).toEqual(JSON.parse(JSON.stringify(direct)))
      const made = (await rig.logCount()) - before
      expect(made).toBe(rig.upstream.requests.length)
      const usage = recordedUsage(steps[made - 1] ?? first)
      if (usage) expect((await rig.lastLog()).quota).toBe(expectedCharge(usage).quota)
    })
  }
})
