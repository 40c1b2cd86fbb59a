// If caller and service use the same dialect, an unreadable event is skipped and counted, unless it may have contained
// something that the answer needs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Behaviour, behaviour } from '../helpers/fake-upstream.ts'
import { messagesFake } from '../matrix/support/fakes/anthropic.ts'
import type { Fake } from '../matrix/support/fakes/fake.ts'
import { geminiFake } from '../matrix/support/fakes/google.ts'
import { chatFake, responsesFake } from '../matrix/support/fakes/openai.ts'
import { type CallerName, callerCalls, chargedUnits, eventsOf, type Rig, see, startRelayRig } from './setup.ts'

let rig: Rig
beforeAll(async () => {
  rig = await startRelayRig({ channels: false, settings: { RetryTimes: '0', AutomaticDisableChannelEnabled: 'false' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

const said = { thought: '', text: 'The sky is blue.', calls: [] }
const services: Readonly<Record<CallerName, { type: number; fake: Fake }>> = {
  chat: { type: 28, fake: chatFake },
  responses: { type: 1, fake: responsesFake },
  messages: { type: 14, fake: messagesFake },
  gemini: { type: 24, fake: geminiFake },
}
const names = Object.keys(services) as CallerName[]

const sends = (pieces: readonly string[], headers = [['content-type', 'text/event-stream']] as const): Behaviour =>
  behaviour('has events that nobody can read', async (exchange) => {
    exchange.head(200, headers.map(([name, value]) => [name, value] as const) as never)
    for (const piece of pieces) if (!(await exchange.write(piece))) return
    exchange.end()
  })

/** Makes a call in a dialect that the service also uses; the service responds with these events. */
async function ask(name: CallerName, pieces: readonly string[]) {
  await rig.clear()
  await rig.channel({ type: services[name].type })
  rig.upstream.always(sends(pieces))
  const account = await rig.caller()
  const { path, body } = callerCalls[name]
  const streamed = name === 'gemini' ? path.replace(':generateContent', ':streamGenerateContent?alt=sse') : path
  const asked = name === 'gemini' ? body : { ...body, stream: true }
  const seen = await see(rig.gateway.post(streamed, asked, account.token))
  const { rows, units } = await chargedUnits(rig, account)
  return { seen, row: rows[0], units }
}

const piecesOf = (name: CallerName) => services[name].fake.pieces(said) as string[]
/** The index of the event with the second half of the text. */
const middleOf = (name: CallerName) => piecesOf(name).findIndex((piece) => piece.includes('s blue.'))
const put = (name: CallerName, at: number, ...lines: readonly string[]) => {
  const pieces = piecesOf(name)
  return [...pieces.slice(0, at), ...lines.map((line) => `data: ${line}\n\n`), ...pieces.slice(at)]
}

describe.each(names)('a stream of %s', (name) => {
  test.each([
    [
      'that breaks off within a text',
      '{"choices":[{"index":0,"finish_reason":null,"usage":null,"delta":{"content":"lo',
    ],
    ['that is a list', '["text"]'],
    ['that is a word', 'oops'],
  ])(
    'continues without an event %s, is charged as reported, and its log row mentions the skipped event',
    async (_, line) => {
      const whole = await ask(name, piecesOf(name))
      const { seen, row, units } = await ask(name, put(name, middleOf(name), line))
      expect(seen.text).toBe(whole.seen.text)
      expect([units, row?.outcome, row?.estimated]).toEqual([whole.units, 'complete', 0])
      expect(whole.row?.content).not.toContain('unreadable')
      expect(row?.content).toEndWith('; 1 unreadable event of the upstream skipped')
    },
  )

  test('continues without a line that has no field name, whether the line is separate or part of an event', async () => {
    const whole = await ask(name, piecesOf(name))
    const middle = middleOf(name)
    const pieces = piecesOf(name)
    for (const odd of [
      [...pieces.slice(0, middle), 'oops\n\n', ...pieces.slice(middle)],
      pieces.with(middle, `${pieces[middle]?.trimEnd()}\noops\n\n`),
      pieces.with(middle, `oops\r\n${pieces[middle]?.trimEnd().replaceAll('\n', '\r\n')}\r\n\r\n`),
    ]) {
      const { seen, row, units } = await ask(name, odd)
      expect(eventsOf(seen.text)).toEqual(eventsOf(whole.seen.text))
      expect(seen.text).not.toContain('oops')
      expect([units, row?.outcome]).toEqual([whole.units, 'complete'])
      expect(row?.content).toEndWith('; 1 unreadable event of the upstream skipped')
    }
  })

  test('can be read even if no blank line separates two of its events', async () => {
    const whole = await ask(name, piecesOf(name))
    const middle = middleOf(name)
    const pieces = piecesOf(name)
    const dataOf = (at: number) => pieces[at]?.split('\n').find((line) => line.startsWith('data: ')) ?? ''
    const joined = `${dataOf(middle - 1)}\n${dataOf(middle)}\n\n`
    const { seen, row, units } = await ask(name, [...pieces.slice(0, middle - 1), joined, ...pieces.slice(middle + 1)])
    expect(eventsOf(seen.text)).toEqual(eventsOf(whole.seen.text))
    expect([units, row?.outcome]).toEqual([whole.units, 'complete'])
    expect(row?.content).not.toContain('unreadable')
  })

  test('ends if an error arrives between its events, and the error is passed on unchanged', async () => {
    const middle = middleOf(name)
    const error = '{"error":{"message":"overloaded","type":"overloaded_error"}}'
    const line = name === 'messages' ? `{"type":"error",${error.slice(1)}` : error
    const pieces = [...piecesOf(name).slice(0, middle), `${line}\n\n`, ...piecesOf(name).slice(middle)]
    const { seen, row } = await ask(name, pieces)
    expect(seen.text).toContain('overloaded')
    expect(seen.text).not.toContain('s blue.')
    expect([row?.outcome, row?.content]).toEqual([
      'interrupted',
      expect.stringContaining('ended: upstream_stream_error'),
    ])
  })

  test('continues without several unreadable events, and its log row counts them', async () => {
    const middle = middleOf(name)
    const pieces = put(name, middle, 'oops')
    const { seen, row } = await ask(name, [
      ...pieces.slice(0, middle + 2),
      'data: oops\n\n',
      ...pieces.slice(middle + 2),
    ])
    expect(seen.text).not.toContain('oops')
    expect([row?.outcome, row?.content]).toEqual([
      'complete',
      expect.stringContaining('2 unreadable events of the upstream skipped'),
    ])
  })

  test.each([
    ['two unreadable events in a row', ['oops', 'oops']],
    ['an event that may report usage', ['{"usage":{"prompt_tokens":1']],
    ["an event that may report usage in Google's format", ['{"usageMetadata":{"promptTokenCount":']],
    ['an event that may be the end', ['{"choices":[{"index":0,"delta":{},"finish_reason":"st']],
    ["an event that may be the end in Anthropic's format", ['{"type":"message_delta","delta":{']],
    ["an event that may be the end in Google's format", ['{"candidates":[{"finishReason":"ST']],
    ['an event that may be an error', ['{"error":{"message":"ou']],
    [
      'an event that may contain a piece of a call',
      ['{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"functi'],
    ],
    [
      "an event that may contain a piece of a call in Anthropic's format",
      ['{"type":"content_block_delta","delta":{"type":"input_json_delta","pa'],
    ],
    [
      "an event that may contain a call in Google's format",
      ['{"candidates":[{"content":{"parts":[{"functionCall":{"na'],
    ],
    [
      'an event that may contain a piece of a call in the Responses format',
      ['{"type":"response.function_call_arguments.delta","del'],
    ],
    ['an event that may contain audio', ['{"choices":[{"index":0,"delta":{"audio":{"data":"AAAA']],
    ['an event that may begin a content block', ['{"type":"content_block_start","index":1,"con']],
  ])('is interrupted by %s, which is not passed on', async (_, lines) => {
    const { seen, row } = await ask(name, put(name, middleOf(name), ...lines))
    expect([seen.status, seen.broken]).toEqual([200, false])
    expect(seen.text).toContain('cannot be read')
    for (const line of lines) expect(seen.text).not.toContain(line)
    expect([row?.outcome, row?.content]).toEqual([
      'interrupted',
      expect.stringContaining('ended: upstream_stream_error'),
    ])
    expect(row?.content).not.toContain('skipped')
  })

  test('is interrupted if its last content event is unreadable, even if the end marker follows', async () => {
    const end = piecesOf(name).findIndex((piece) =>
      /"(?:finish_reason|finishReason|stop_reason)":"|response\.completed/.test(piece),
    )
    const pieces = piecesOf(name).with(end, 'data: oops\n\n')
    const { seen, row } = await ask(name, pieces)
    expect([seen.status, row?.outcome]).toEqual([200, 'interrupted'])
    expect(eventsOf(seen.text)).not.toContain('[DONE]')
  })
})

test('a stream of the Messages API does not end after an event that is truncated within its type', async () => {
  const whole = await ask('messages', piecesOf('messages'))
  const { seen, row } = await ask('messages', put('messages', middleOf('messages'), '{"type":"content_bl'))
  expect([seen.text, row?.outcome]).toEqual([whole.seen.text, 'complete'])
})

describe('a stream that contains a tool call', () => {
  const calling = {
    thought: '',
    text: 'I look.',
    calls: [{ id: 'toolu_1', name: 'look_up', input: { city: 'London' } }],
  }
  const eventsIn = (name: CallerName) =>
    (services[name].fake.pieces(calling) as string[])
      .flatMap((piece) => piece.split('\n\n'))
      .filter((piece) => piece !== '')
      .map((piece) => `${piece}\n\n`)

  /** Events whose content is not repeated by a later event of the stream. */
  test.each([
    ['chat', 'the first piece of an input', /"tool_calls":\[/, 1],
    ['chat', 'the last piece of an input', /"tool_calls":\[/, 2],
    ['chat', 'the beginning of a call', /"tool_calls":\[/, 0],
    ['messages', 'the first piece of an input', /partial_json/, 0],
    ['messages', 'the last piece of an input', /partial_json/, 1],
    ['messages', 'the beginning of a call', /content_block_start/, 1],
    ['messages', 'the end of a text', /content_block_stop/, 0],
    ['messages', 'the end of a call', /content_block_stop/, 1],
    ['responses', 'the beginning of a call', /output_item\.added/, 1],
    ['responses', 'the end of a call', /output_item\.done/, 1],
    ['responses', 'the end of a message', /output_item\.done/, 0],
  ] as const)('of %s is interrupted without %s', async (name, _title, isIt, which) => {
    const events = eventsIn(name)
    const at = events.flatMap((event, index) => (isIt.test(event) ? [index] : []))[which] ?? -1
    expect(at).toBeGreaterThan(0)
    const { seen, row } = await ask(name, events.with(at, 'data: oops\n\n'))
    expect(seen.text).toContain('cannot be read')
    expect(row?.outcome).toBe('interrupted')
  })

  test.each([
    ['message', /output_item\.added/],
    ['text', /content_part\.added/],
  ] as const)('of responses fails before it begins if the start of its %s is missing', async (_title, isIt) => {
    const events = eventsIn('responses')
    const at = events.findIndex((event) => isIt.test(event))
    const { seen } = await ask('responses', events.with(at, 'data: oops\n\n'))
    expect([seen.status, seen.error?.message]).toEqual([502, expect.stringContaining('cannot be read')])
  })

  test('with a plain-text input is interrupted by an unreadable event in the middle, because the input may be incomplete', async () => {
    const piece = (custom: object, id?: string) => ({
      id: 'c1',
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...(id && { id, type: 'custom' }), custom }] } }],
    })
    const event = (more: object) => `data: ${JSON.stringify(more)}\n\n`
    const end = { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }
    const pieces = [event(piece({ name: 'f', input: 'one ' }, 'a')), event(piece({ input: 'two' })), event(end)]
    const done = 'data: [DONE]\n\n'
    expect((await ask('chat', [...pieces, done])).row?.outcome).toBe('complete')
    const { row } = await ask('chat', [pieces[0] ?? '', 'data: oops\n\n', ...pieces.slice(1), done])
    expect(row?.outcome).toBe('interrupted')
  })
})

test('a stream is interrupted if the unreadable event may have contained its usage', async () => {
  const pieces = piecesOf('chat')
  const usage = pieces.findIndex((piece) => piece.includes('"usage":'))
  const { row } = await ask('chat', pieces.with(usage, 'data: oops\n\n'))
  expect(row).toMatchObject({ outcome: 'interrupted' })
})

test('a transcript continues without an unreadable event', async () => {
  await rig.clear({ ModelRatio: '{"whisper-1":1,"m":1}' })
  await rig.channel({ type: 1, models: 'whisper-1' })
  const event = (more: object) => `data: ${JSON.stringify(more)}\n\n`
  rig.upstream.always(
    sends([
      event({ type: 'transcript.text.delta', delta: 'The sky' }),
      'data: {"type":"transcript.text.delta","delta":"lo\n\n',
      event({ type: 'transcript.text.delta', delta: ' is blue.' }),
      event({
        type: 'transcript.text.done',
        text: 'The sky is blue.',
        usage: { type: 'tokens', input_tokens: 10, output_tokens: 4, total_tokens: 14 },
      }),
    ]),
  )
  const account = await rig.caller()
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('stream', 'true')
  form.set('file', new File([Buffer.alloc(100)], 'a.wav'))
  const seen = await see(
    fetch(`${rig.gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${account.token}` },
    }),
  )
  expect(eventsOf(seen.text).map((data) => (JSON.parse(data) as { type: string }).type)).toEqual([
    'transcript.text.delta',
    'transcript.text.delta',
    'transcript.text.done',
  ])
  const { rows } = await chargedUnits(rig, account)
  expect(rows[0]).toMatchObject({
    outcome: 'complete',
    content: expect.stringContaining('1 unreadable event of the upstream skipped'),
  })
})

test('an event that has been passed on in part cannot be skipped', async () => {
  await rig.clear()
  await rig.channel({ type: 28 })
  const long = `{"choices":[{"index":0,"delta":{"content":"${'x'.repeat(600_000)}`
  const [head = ''] = piecesOf('chat')
  rig.upstream.always(
    sends([
      head,
      ...piecesOf('chat').slice(1, 2),
      `data: ${long.slice(0, 300_000)}`,
      `${long.slice(300_000)}\n\n`,
      ...piecesOf('chat').slice(2),
    ]),
  )
  const account = await rig.caller()
  const seen = await see(
    rig.gateway.post('/v1/chat/completions', { ...callerCalls.chat.body, stream: true }, account.token),
  )
  expect(seen.error?.code).toBe('upstream_stream_error')
})
