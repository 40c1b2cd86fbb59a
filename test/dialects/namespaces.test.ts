// Tools in namespaces, as Codex declares the tools of MCP servers: other services receive functions, and callers
// receive the original names back.
import { describe, expect, test } from 'bun:test'
import { replyEvents } from '../../server/dialects/neutral/events-of-reply.ts'
import type { Reply } from '../../server/dialects/neutral/reply.ts'
import type { JsonObject } from '../../server/lib/json.ts'
import { dataOf, dialects, encodeAll, frameOf } from '../helpers/dialects.ts'

const search = { type: 'function', name: 'search', description: 'Finds', parameters: { type: 'object' }, strict: false }
const patch = { type: 'custom', name: 'patch', description: 'Changes' }
const github = { type: 'namespace', name: 'mcp__github', description: 'Tools of GitHub', tools: [search, patch] }
const wiki = { type: 'namespace', name: 'mcp__wiki', description: 'Tools of a wiki', tools: [search] }
const asked = {
  model: 'm',
  tools: [{ type: 'function', name: 'search', parameters: { type: 'object' }, strict: false }, github, wiki],
  input: [
    { role: 'user', content: 'Look' },
    { type: 'function_call', call_id: 'c1', namespace: 'mcp__wiki', name: 'search', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'It.' },
  ],
}
const { 'openai-responses': responses, 'anthropic-messages': messages, 'openai-chat': chat, gemini } = dialects
const one = ['search', 'mcp__github__search', 'mcp__github__patch', 'mcp__wiki__search']

describe('a request with namespaces', () => {
  const conversation = responses.decodeRequest(asked)

  test('declares each tool to other services under one combined name, and uses this name for the calls in the history', () => {
    const { body, dropped } = messages.encodeRequest(conversation)
    expect((body['tools'] as JsonObject[]).map(({ name }) => name)).toEqual(one)
    expect(JSON.stringify(body['messages'])).toContain('"name":"mcp__wiki__search"')
    expect(dropped).toEqual([])
    expect(
      (chat.encodeRequest(conversation).body['tools'] as { function: JsonObject }[]).map(
        (tool) => tool.function['name'],
      ),
    ).toEqual(one)
    const [declared] = gemini.encodeRequest(conversation).body['tools'] as { functionDeclarations: JsonObject[] }[]
    expect(declared?.functionDeclarations.map(({ name }) => name)).toEqual(one)
  })

  test('is unchanged in its own dialect', () => {
    const wire = JSON.parse(JSON.stringify(responses.encodeRequest(conversation).body)) as JsonObject
    expect(wire['tools']).toEqual(asked.tools)
    expect(wire['input']).toMatchObject(asked.input)
  })

  test('can require one tool of a namespace, or allow all tools of a namespace', () => {
    const chosen = { ...asked, tool_choice: { type: 'function', namespace: 'mcp__wiki', name: 'search' } }
    expect(messages.encodeRequest(responses.decodeRequest(chosen)).body['tool_choice']).toEqual({
      type: 'tool',
      name: 'mcp__wiki__search',
    })
    const tools = [{ type: 'namespace', name: 'mcp__github' }]
    const allowed = { ...asked, tool_choice: { type: 'allowed_tools', mode: 'auto', tools } }
    const { body } = messages.encodeRequest(responses.decodeRequest(allowed))
    expect((body['tools'] as JsonObject[]).map(({ name }) => name)).toEqual(one.slice(1, 3))
  })

  test('keeps a namespace that is not declared, but reports it as dropped for other services', () => {
    const call = { type: 'function_call', call_id: 'c1', namespace: 'found', name: 'look', arguments: '{}' }
    const conversation = responses.decodeRequest({ model: 'm', input: [{ role: 'user', content: 'Hi' }, call] })
    expect((responses.encodeRequest(conversation).body['input'] as JsonObject[])[1]).toEqual(call)
    expect(chat.encodeRequest(conversation).dropped).toEqual(['input.namespace'])
  })

  test('never has two tools with the same name', () => {
    const tools = [
      { type: 'function', name: 'a__b__c' },
      { type: 'namespace', name: 'a', description: '', tools: [{ ...search, name: 'b__c' }] },
      { type: 'namespace', name: 'a__b', description: '', tools: [{ ...search, name: 'c' }] },
    ]
    const { body } = messages.encodeRequest(responses.decodeRequest({ ...asked, tools, input: 'Hi' }))
    expect((body['tools'] as JsonObject[]).map(({ name }) => name)).toEqual(['a__b__c', 'a__b__c_', 'a__b__c__'])
  })
})

test('calls come back under their original names, both streamed and not', () => {
  const frame = frameOf('openai-responses', asked)
  const reply: Reply = {
    choices: [
      {
        parts: [
          { type: 'tool-call', id: 'c2', name: 'mcp__github__search', input: '{"at":"it"}' },
          { type: 'tool-call', id: 'c3', name: 'mcp__github__patch', input: '{"input":"*** Begin"}' },
          { type: 'tool-call', id: 'c4', name: 'search', input: '{}' },
        ],
        stop: { reason: 'tool-calls' },
      },
    ],
  }
  const expected = [
    { type: 'function_call', namespace: 'mcp__github', name: 'search', arguments: '{"at":"it"}' },
    { type: 'custom_tool_call', namespace: 'mcp__github', name: 'patch', input: '*** Begin' },
    { type: 'function_call', name: 'search' },
  ]
  const whole = responses.encodeReply(reply, frame)
  expect(whole['output']).toMatchObject(expected)
  expect(whole['tools']).toMatchObject(asked.tools)
  const events = dataOf(encodeAll(responses, replyEvents(reply), frame)).map((data) => JSON.parse(data) as JsonObject)
  const items = (type: string) => events.filter((event) => event['type'] === type).map(({ item }) => item)
  expect(items('response.output_item.done')).toMatchObject(expected)
  expect(items('response.output_item.added')).toMatchObject(
    expected.map(({ type, namespace, name }) => ({ type, name, ...(namespace && { namespace }) })),
  )
})
