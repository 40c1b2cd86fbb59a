import { isObject, type JsonObject } from '../../server/lib/json.ts'
import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import type { Fake, Said } from '../matrix/support/fakes/fake.ts'
import { says } from '../matrix/support/fakes/index.ts'
import { commandOutput, ending, secret } from './tasks.ts'
import { filled, forcedTool, inputFor, type OfferedTool, offeredTools, type Step, toolFor } from './tools.ts'

const steps: readonly Step[] = ['read', 'edit', 'run']

/** What was observed during a run. */
export interface Seen {
  /** Requests that offered tools and therefore belong to the task. */
  tasks: number
  /** Requests of any kind. */
  all: number
  /** Names of the tools that were called, in order. */
  called: string[]
}

/** The value of `Seen` before a run. `scriptedModel` adds to it. */
export const nothingSeen = (): Seen => ({ tasks: 0, all: 0, called: [] })

/**
 * A model that reads the note, changes it, runs a command and reports what it learned, using whatever tools it is
 * offered. It derives its progress from the history alone, as a real model does. If a request forces one tool, the
 * model calls that tool. If a request offers no tools, the answer is a summary if tools were called before, and
 * otherwise a single word, because such a request may ask for a title. Everything it does is added to `seen`.
 */
export function scriptedModel(fake: Fake, note: string, seen: Seen): Behaviour {
  const threads = new Threads()
  return behaviour('does the task', (exchange) => {
    const body = threads.whole(exchange.request.fields)
    seen.all += 1
    const forced = forcedTool(body)
    if (forced) return says(fake, objectFor(forced, body)).run(exchange)
    const tools = offeredTools(body)
    if (!toolFor('run', tools)) return says(fake, saying(callsIn(body) > 0 ? summaryOf(body) : 'Task')).run(exchange)
    seen.tasks += 1
    const said = nextOf(body, note)
    seen.called.push(...said.calls.map(({ name }) => name).filter((name) => name !== finalTool))
    const answerId = `answer-${seen.all}`
    threads.keep(answerId, body, said)
    return says(fake, { ...said, answerId }).run(exchange)
  })
}

/** The conversations that the service stores for threads of the Messages API, keyed by response id. */
class Threads {
  readonly #kept = new Map<unknown, JsonObject>()

  /** A request with the earlier messages of its thread put in front of its own. */
  whole(body: JsonObject): JsonObject {
    const { thread } = body
    const before = isObject(thread) ? this.#kept.get(thread['previous_message_id']) : undefined
    if (!before) return body
    const messages = [...(before['messages'] as unknown[]), ...(body['messages'] as unknown[])]
    return { ...before, ...body, messages }
  }

  keep(id: string, body: JsonObject, { calls, text }: Said): void {
    if (!isObject(body['thread'])) return
    const said = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
    const message = { role: 'assistant', content: said.length > 0 ? said : [{ type: 'text', text }] }
    this.#kept.set(id, { ...body, messages: [...(body['messages'] as unknown[]), message] })
  }
}

/** The tool that receives the final text if a library requires every response to be a tool call. */
const finalTool = 'final_answer'

/** A call to the forced tool. Its input contains the password if the request does. */
function objectFor({ name, schema }: OfferedTool, body: JsonObject): Said {
  const known = JSON.stringify(body).includes(secret) ? { password: secret } : {}
  return { ...saying(''), calls: [{ id: 'call_object_1', name, input: filled(schema, known) }] }
}

const saying = (text: string): Said => ({ thought: '', text, calls: [] })

function nextOf(body: JsonObject, note: string): Said {
  const done = callsIn(body)
  const text = JSON.stringify(body)
  if (done > 0 && !text.includes(secret)) return saying('The file could not be read.')
  const step = steps[done]
  const tools = offeredTools(body)
  if (!step) {
    const answer = text.includes(commandOutput) ? ending : `The password is ${secret}; the command did not run.`
    if (!tools.some(({ name }) => name === finalTool)) return saying(answer)
    return { ...saying(''), calls: [{ id: 'call_final_1', name: finalTool, input: { answer } }] }
  }
  const tool = toolFor(step, tools)
  if (!tool) return saying(`No tool can ${step}.`)
  const input = inputFor(step, tool, note)
  const call = { id: `call_${step}_1`, name: tool.name }
  const made = typeof input === 'string' ? { ...call, input: {}, freeText: input } : { ...call, input }
  return { thought: '', text: '', calls: [made] }
}

/** The summary from which the model can continue without the history. */
function summaryOf(body: JsonObject): string {
  const output = JSON.stringify(body).includes(commandOutput) ? ` The output was ${commandOutput}.` : ''
  return `The password is ${secret}.${output} Calls so far: ${callsIn(body)}.`
}

/**
 * Texts that mark one tool call each in histories that contain the calls as plain text. The first occurs in a history
 * that a program asks the model to summarise, the second in histories of smolagents.
 */
const toldCalls = ['[called the tool ', 'Calling tools:']

const historyOf = (body: JsonObject) => [body['messages'], body['input'], body['contents']].find(Array.isArray) ?? []

/** The number of tool calls in a request's history, including the calls that its last summary counts. */
function callsIn(body: JsonObject): number {
  const text = JSON.stringify(historyOf(body))
  const summed = Number([...text.matchAll(/Calls so far: (\d+)/g)].at(-1)?.[1] ?? 0)
  const calls = unsummedCalls(body)
  return summed + (calls > 0 ? calls : Math.max(...toldCalls.map((told) => text.split(told).length - 1)))
}

/** The number of tool calls in a request's history, without the calls that a summary counts. */
export function unsummedCalls(body: JsonObject): number {
  return historyOf(body)
    .filter(isObject)
    .reduce((sum, item) => sum + callsOf(item), 0)
}

const callTypes = new Set(['function_call', 'custom_tool_call'])

function callsOf(item: JsonObject): number {
  if (callTypes.has(String(item['type']))) return 1
  if (Array.isArray(item['tool_calls'])) return item['tool_calls'].length
  const parts = [item['content'], item['parts']].find(Array.isArray) ?? []
  return parts.filter(
    (part) => isObject(part) && (part['type'] === 'tool_use' || 'functionCall' in part || 'function_call' in part),
  ).length
}
