// Services that use OpenAI's chat format put ids, indexes and names on the pieces of a tool call in different ways. For
// each way, callers of every dialect must get complete calls when their SDKs assemble the pieces.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { behaviour } from '../helpers/fake-upstream.ts'
import { callerNames, callers } from './support/callers.ts'
import { type Rig, startMatrixRig } from './support/rig.ts'
import { outcomeOf } from './support/streamed-cases.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startMatrixRig(['any-model'])
})
afterAll(() => rig[Symbol.asyncDispose]())

interface Piece {
  index?: number | string | null
  id?: string | null
  name?: string
  args?: string | object
}
const piece = ({ name, args, ...marks }: Piece) => ({
  ...marks,
  type: 'function',
  function: { ...(name !== undefined && { name }), ...(args !== undefined && { arguments: args }) },
})

/** Two calls, one for London and one for Paris. Each list contains the pieces of one chunk. */
const forms: readonly (readonly [title: string, chunks: readonly (readonly Piece[])[]])[] = [
  [
    'in the format of OpenAI',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '' }],
      [{ index: 0, args: '{"city":' }],
      [{ index: 0, args: '"London"}' }],
      [{ index: 1, id: 'b', name: 'look_up', args: '' }],
      [{ index: 1, args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'numbered from 1',
    [
      [{ index: 1, id: 'a', name: 'look_up', args: '{"city":' }],
      [{ index: 1, args: '"London"}' }],
      [{ index: 2, id: 'b', name: 'look_up', args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'with a skipped number',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 2, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 2, args: '"Paris"}' }],
    ],
  ],
  [
    'all numbered 0',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 0, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 0, args: '"Paris"}' }],
    ],
  ],
  [
    'all numbered 0, with alternating pieces',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":' }],
      [{ index: 0, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 0, id: 'a', args: '"London"}' }],
      [{ index: 0, id: 'b', args: '"Paris"}' }],
    ],
  ],
  [
    'without numbers, with an id on every piece',
    [
      [{ id: 'a', name: 'look_up', args: '{"city":' }],
      [{ id: 'b', name: 'look_up', args: '{"city":' }],
      [{ id: 'a', args: '"London"}' }],
      [{ id: 'b', args: '"Paris"}' }],
    ],
  ],
  [
    'without numbers, with an id only on the first piece',
    [
      [{ id: 'a', name: 'look_up', args: '' }],
      [{ args: '{"city":"Lon' }],
      [{ args: 'don"}' }],
      [{ id: 'b', name: 'look_up', args: '' }],
      [{ args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'with null as the number, both in one chunk',
    [
      [
        { index: null, id: 'a', name: 'look_up', args: '{"city":"London"}' },
        { index: null, id: 'b', name: 'look_up', args: '{"city":"Paris"}' },
      ],
    ],
  ],
  [
    'without numbers and ids',
    [[{ name: 'look_up', args: '{"city":' }], [{ args: '"London"}' }], [{ name: 'look_up', args: '{"city":"Paris"}' }]],
  ],
  [
    'without numbers and ids, both in one chunk',
    [
      [
        { name: 'look_up', args: '{"city":"London"}' },
        { name: 'look_up', args: '{"city":"Paris"}' },
      ],
    ],
  ],
  [
    'without numbers and ids, with the name on every piece',
    [
      [{ name: 'look_up', args: '{"city":' }],
      [{ name: 'look_up', args: '"London"}' }],
      [{ name: 'look_up', args: '{"city":' }],
      [{ name: 'look_up', args: '"Paris"}' }],
    ],
  ],
  [
    'with a number only on the later pieces',
    [
      [{ id: 'a', name: 'look_up' }],
      [{ index: 0, args: '{"city":"London"}' }],
      [{ id: 'b', name: 'look_up' }],
      [{ index: 1, args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'all numbered 0, without ids',
    [
      [{ index: 0, name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 0, name: 'look_up', args: '{"city":' }],
      [{ index: 0, args: '"Paris"}' }],
    ],
  ],
  [
    'with an id that arrives after the name',
    [
      [{ index: 0, name: 'look_up' }],
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 1, name: 'look_up' }],
      [{ index: 1, id: 'b', args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'with a new number on each piece',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":' }],
      [{ index: 1, id: 'a', args: '"London"}' }],
      [{ index: 2, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 3, id: 'b', args: '"Paris"}' }],
    ],
  ],
  [
    'with an id only on pieces that switch to another call',
    [
      [{ id: 'a', name: 'look_up', args: '{"city":' }],
      [{ id: 'b', name: 'look_up', args: '{"city":"Paris"}' }],
      [{ id: 'a', args: '"Lon' }],
      [{ args: 'don"}' }],
    ],
  ],
  [
    'with numbers and empty ids',
    [
      [{ index: 0, id: '', name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 1, id: '', name: 'look_up', args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'with numbers but no ids, and with null ids on later pieces',
    [
      [{ index: 0, name: 'look_up', args: '{"city":' }],
      [{ index: 0, id: null, args: '"London"}' }],
      [{ index: 1, name: 'look_up', args: '{"city":"Paris"}' }],
    ],
  ],
  [
    'with id and name on every piece',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":' }],
      [{ index: 0, id: 'a', name: 'look_up', args: '"London"}' }],
      [{ index: 1, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 1, id: 'b', name: 'look_up', args: '"Paris"}' }],
    ],
  ],
  [
    'with a different id on every piece',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: '{"city":' }],
      [{ index: 0, id: 'a2', args: '"London"}' }],
      [{ index: 1, id: 'b', name: 'look_up', args: '{"city":' }],
      [{ index: 1, id: 'b2', args: '"Paris"}' }],
    ],
  ],
  [
    'without numbers, with a different id on every piece',
    [
      [{ id: 'a', name: 'look_up', args: '{"city":' }],
      [{ id: 'a2', args: '"London"}' }],
      [{ id: 'b', name: 'look_up', args: '{"city":' }],
      [{ id: 'b2', args: '"Paris"}' }],
    ],
  ],
  [
    'with a name that arrives after the id',
    [
      [{ index: 0, id: 'a', args: '' }],
      [{ index: 0, name: 'look_up', args: '{"city":"London"}' }],
      [{ index: 1, id: 'b', args: '{"city":' }],
      [{ index: 1, name: 'look_up', args: '"Paris"}' }],
    ],
  ],
  [
    'with numbers as strings, and alternating pieces',
    [
      [
        { index: '0', id: 'a', name: 'look_up', args: '{"city":' },
        { index: '1', id: 'b', name: 'look_up', args: '{"city":' },
      ],
      [{ index: '0', args: '"London"}' }],
      [{ index: '1', args: '"Paris"}' }],
    ],
  ],
  [
    'with objects as inputs',
    [
      [{ index: 0, id: 'a', name: 'look_up', args: { city: 'London' } }],
      [{ index: 1, id: 'b', name: 'look_up', args: { city: 'Paris' } }],
    ],
  ],
  [
    'with objects as inputs, without numbers and ids',
    [[{ name: 'look_up', args: { city: 'London' } }], [{ name: 'look_up', args: { city: 'Paris' } }]],
  ],
]

const asked = { model: 'any-model', text: 'Where is it warm?', stream: true, tools: ['look_up'] }
const calls = [
  ['look_up', { city: 'London' }],
  ['look_up', { city: 'Paris' }],
]
const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'any-model',
  choices: [{ index: 0, delta, finish_reason }],
})

describe.each(forms)('calls %s', (_title, chunks) => {
  test.each(callerNames)('reach callers of %s', async (caller) => {
    const clients = await rig.through({ type: 28, name: caller })
    const events = [
      chunk({ role: 'assistant', content: 'I look.' }),
      ...chunks.map((each) => chunk({ tool_calls: each.map(piece) })),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 } },
    ]
    rig.answer(
      behaviour('marks calls in its own way', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(`${events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
        exchange.end()
      }),
    )
    expect(await outcomeOf(callers[caller](clients, asked))).toEqual({ text: 'I look.', thought: '', calls } as never)
    const { calls: named } = await callers[caller](clients, asked)
    const ids = named.map(({ id }) => id)
    if (caller !== 'gemini') expect(new Set(ids.filter(Boolean)).size).toBe(2)
  })
})

/**
 * Assembles the pieces of calls as OpenAI's Python SDK does: strings of the same field are concatenated, except the
 * type.
 */
function pythonCalls(text: string): Record<string, string>[] {
  const joined: Record<string, string>[] = []
  for (const line of text.split('\n').filter((each) => each.startsWith('data: {'))) {
    const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { tool_calls?: PythonPiece[] } }[] }
    for (const { index, function: called = {}, ...rest } of choices[0]?.delta.tool_calls ?? []) {
      joined[index] ??= {}
      const call = joined[index]
      for (const [name, value] of Object.entries({ ...rest, ...called })) {
        if (name === 'type') call[name] = String(value)
        else if (value !== null) call[name] = (call[name] ?? '') + String(value)
      }
    }
  }
  return joined
}
interface PythonPiece {
  index: number
  function?: Record<string, unknown>
}

/** Forms that differ from OpenAI's only by repeating the id and name. They are passed on unchanged. */
const passedOn = ['with id and name on every piece']

test.each(forms.filter(([title]) => !passedOn.includes(title)))(
  'calls %s are complete for clients that concatenate strings of the same field',
  async (_title, chunks) => {
    const events = [
      chunk({ role: 'assistant', content: 'I look.' }),
      ...chunks.map((each) => chunk({ tool_calls: each.map(piece) })),
      chunk({}, 'tool_calls'),
    ]
    rig.answer(
      behaviour('marks calls in its own way', async (exchange) => {
        exchange.head(200, [['content-type', 'text/event-stream']])
        await exchange.write(`${events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
        exchange.end()
      }),
    )
    const body = { model: 'any-model', stream: true, messages: [{ role: 'user', content: 'Where is it warm?' }] }
    const token = await rig.token({ type: 28, name: 'joined' })
    const response = await rig.gateway.post('/v1/chat/completions', body, token)
    const got = pythonCalls(await response.text())
    expect(got.map(({ type, name, arguments: input = '' }) => [type, name, JSON.parse(input)])).toEqual(
      calls.map((each) => ['function', ...each]),
    )
    const ids = chunks.flat().flatMap(({ id }) => id ?? [])
    for (const { id = '' } of got) expect(ids.includes(id) || id.startsWith('call_c1_0_')).toBe(true)
    expect(new Set(got.map(({ id }) => id)).size).toBe(2)
  },
)

describe.each([
  ['ids', JSON.stringify],
  ['ids, with objects as inputs,', (input: object) => input],
] as const)('calls without %s in an answer that is not streamed', (_title, written) => {
  test.each(callerNames)('are complete for callers of %s', async (caller) => {
    const clients = await rig.through({ type: 28, name: caller })
    const tool_calls = ['London', 'Paris'].map((city) => ({
      type: 'function',
      function: { name: 'look_up', arguments: written({ city }) },
    }))
    const message = { role: 'assistant', content: null, tool_calls }
    const answer = {
      ...chunk({}),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    }
    rig.answer(
      behaviour('leaves ids out', async (exchange) => {
        exchange.head(200, [['content-type', 'application/json']])
        await exchange.write(JSON.stringify(answer))
        exchange.end()
      }),
    )
    const got = await callers[caller](clients, { ...asked, stream: false })
    expect(got.calls.map(({ name, input }) => [name, input])).toEqual(calls as never)
    if (caller !== 'gemini') expect(new Set(got.calls.map(({ id }) => id).filter(Boolean)).size).toBe(2)
  })
})
