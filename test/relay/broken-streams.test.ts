import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fake from '../helpers/fake-upstream.ts'
import {
  charged,
  chargedUnits,
  chatStream,
  eventsOf,
  expectErrorEvent,
  promptTokens,
  type Rig,
  type Seen,
  see,
  startRelayRig,
  textOf,
} from './setup.ts'

let rig: Rig

beforeAll(async () => {
  rig = await startRelayRig({ settings: { StreamIdleTimeout: '3', KeepAliveInterval: '0' } })
})
afterAll(() => rig[Symbol.asyncDispose]())

async function call(upstream: fake.Behaviour, body: object = chatStream, onText?: (text: string) => void) {
  const caller = await rig.caller()
  rig.upstream.next(upstream)
  const seen = await see(rig.gateway.post('/v1/chat/completions', body, caller.token), onText)
  return { caller, seen }
}

/** The text that was delivered before the error event. */
function delivered(seen: Seen): string {
  return textOf(seen.text.slice(0, seen.text.lastIndexOf('data: {"error"')))
}

interface Interrupted {
  /** The upstream, which breaks the stream off once `when` has resolved. */
  upstream: (when: Promise<unknown>) => fake.Behaviour
  code: string
  text: string
}

const interrupted: readonly Interrupted[] = [
  {
    upstream: (when) => fake.cutsStream('fin', { after: 4, when }),
    code: 'upstream_stream_error',
    text: 'word0 word1 word2',
  },
  {
    upstream: (when) => fake.cutsStream('reset', { after: 4, when }),
    code: 'upstream_stream_error',
    text: 'word0 word1 word2',
  },
  { upstream: () => fake.endsEarly({ after: 4 }), code: 'upstream_stream_incomplete', text: 'word0 word1 word2' },
  {
    upstream: () => fake.untilClose(fake.endsEarly({ after: 4 })),
    code: 'upstream_stream_incomplete',
    text: 'word0 word1 word2',
  },
  {
    upstream: (when) => fake.cutsInsideEvent('end', { after: 4, when }),
    code: 'upstream_stream_incomplete',
    text: 'word0 word1 word2',
  },
  {
    upstream: (when) => fake.cutsInsideEvent('fin', { after: 4, when }),
    code: 'upstream_stream_error',
    text: 'word0 word1 word2',
  },
  {
    upstream: (when) => fake.cutsInsideEvent('reset', { after: 4, when }),
    code: 'upstream_stream_error',
    text: 'word0 word1 word2',
  },
  { upstream: () => fake.stallsStream({ after: 4 }), code: 'upstream_timeout', text: 'word0 word1 word2' },
]

describe('a stream that breaks in the middle ends with an error event, and the delivered part is charged:', () => {
  for (const { upstream, code, text } of interrupted) {
    const { promise: arrived, resolve } = Promise.withResolvers<void>()
    const broken = upstream(arrived)
    test(`${broken.name} → ${code}`, async () => {
      const { caller, seen } = await call(broken, chatStream, (soFar) => {
        if (soFar.includes('word2')) resolve()
      })
      expectErrorEvent(seen, code)
      expect(seen.error?.type).toBe('upstream_error')
      expect(delivered(seen)).toBe(text)
      // The delivered text is "word0 word1 word2", three words of two tokens each.
      const [row, ...more] = await charged(rig, caller, promptTokens + 6)
      expect(more).toEqual([])
      expect(row).toMatchObject({
        outcome: 'interrupted',
        estimated: 1,
        prompt_tokens: promptTokens,
        completion_tokens: 6,
        attempts: '',
      })
      expect(row?.content).toContain(`ended: ${code}`)
      await rig.upstream.until(({ openStreams }) => openStreams === 0)
    })
  }

  test('an error event in the middle of a stream is passed on unchanged, and no end marker follows', async () => {
    const { caller, seen } = await call(fake.errorEvent({ after: 4, message: 'out of order', done: true }))
    expect(seen.error).toMatchObject({ message: 'out of order', type: 'server_error' })
    expect(seen.text).not.toContain('[DONE]')
    expect(delivered(seen)).toBe('word0 word1 word2')
    const [row] = await charged(rig, caller, promptTokens + 6)
    expect(row).toMatchObject({ outcome: 'interrupted', estimated: 1 })
    expect(row?.content).toContain('ended: upstream_stream_error')
  })

  test('usage reported before the end is used for the charge if it covers what was delivered', async () => {
    const { caller, seen } = await call(fake.cutsStream('fin', { after: 4, usageChunk: 'every' }))
    expectErrorEvent(seen, 'upstream_stream_error')
    const [row] = await charged(rig, caller, 13)
    expect(row).toMatchObject({ outcome: 'interrupted', estimated: 0, prompt_tokens: 10, completion_tokens: 3 })
  })

  test('usage reported before the last text is delivered is not used for the charge', async () => {
    const first = { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 }
    const { caller } = await call(usageAtOnce(first))
    const [row] = await charged(rig, caller, promptTokens + 6)
    expect(row).toMatchObject({ outcome: 'interrupted', estimated: 1 })
    expect(row?.content).toContain('usage of the upstream refused')
  })

  test('the time limit for the whole call applies to streams too', async () => {
    const id = await rig.channel({ models: 'm2', config: '{"relay_timeout":1}' })
    expect(id).toBeGreaterThan(0)
    const { caller, seen } = await call(fake.okStream({ chunks: 1000, delayMs: 50 }), { ...chatStream, model: 'm2' })
    expectErrorEvent(seen, 'upstream_timeout')
    const { rows } = await chargedUnits(rig, caller)
    expect(rows[0]).toMatchObject({ outcome: 'interrupted', estimated: 1 })
    await rig.upstream.until(({ last }) => last.aborted)
  })
})

function usageAtOnce(usage: object): fake.Behaviour {
  return fake.behaviour('usage with the first chunk only', async (exchange) => {
    exchange.head(200, fake.streamHeaders())
    const chunk = (content: string, more = {}) =>
      exchange.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...more })}\n\n`)
    await chunk('', { usage })
    for (const word of ['word0', ' word1', ' word2']) await chunk(word)
    exchange.end()
  })
}

describe('a stream that ends irregularly but is complete counts as complete:', () => {
  const whole: readonly { upstream: fake.Behaviour; estimated: number }[] = [
    { upstream: fake.noDone({ chunks: 5 }), estimated: 0 },
    { upstream: fake.untilClose(fake.noDone({ chunks: 5 })), estimated: 0 },
    { upstream: breaksAfterFinish('fin'), estimated: 1 },
    { upstream: breaksAfterFinish('reset'), estimated: 1 },
    { upstream: breaksAfterFinish('hang'), estimated: 1 },
  ]
  for (const { upstream, estimated } of whole) {
    test(`${upstream.name}: the caller gets [DONE]`, async () => {
      const { caller, seen } = await call(upstream)
      expect(seen.broken).toBe(false)
      expect(seen.text).toEndWith('data: [DONE]\n\n')
      expect(textOf(seen.text)).toBe('word0 word1 word2 word3 word4')
      const { rows } = await chargedUnits(rig, caller)
      expect(rows[0]).toMatchObject({ outcome: 'complete', estimated })
    })
  }

  test('a stream in which only one of two choices has finished counts as incomplete', async () => {
    const { seen } = await call(
      fake.behaviour('one of two choices', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const event = { choices: [{ index: 0, delta: { content: 'first' }, finish_reason: 'stop' }] }
        await exchange.write(`data: ${JSON.stringify(event)}\n\n`)
        exchange.end()
      }),
      { ...chatStream, n: 2 },
    )
    expectErrorEvent(seen, 'upstream_stream_incomplete')
  })

  test('a stream in which every finish_reason is empty counts as incomplete', async () => {
    const { seen } = await call(
      fake.behaviour('empty finish_reason', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        const event = { choices: [{ index: 0, delta: { content: 'first' }, finish_reason: '' }] }
        await exchange.write(`data: ${JSON.stringify(event)}\n\n`)
        exchange.end()
      }),
    )
    expectErrorEvent(seen, 'upstream_stream_incomplete')
  })

  test('the last event is used even if the blank line after it is missing', async () => {
    const { caller, seen } = await call(
      fake.behaviour('no last blank line', async (exchange) => {
        exchange.head(200, fake.streamHeaders())
        await exchange.write('data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n')
        await exchange.write(
          'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}',
        )
        exchange.end()
      }),
      { ...chatStream, stream_options: { include_usage: true } },
    )
    expect(eventsOf(seen.text).slice(1)).toEqual([expect.stringContaining('"completion_tokens":2'), '[DONE]'])
    await charged(rig, caller, 12)
  })
})

function breaksAfterFinish(how: 'fin' | 'reset' | 'hang'): fake.Behaviour {
  return fake.behaviour(`${how} after finish_reason`, async (exchange) => {
    exchange.head(200, fake.streamHeaders())
    const events = fake.streamEvents(exchange, { chunks: 5, usageChunk: 'never', done: false })
    for (const event of events) await exchange.write(`data: ${JSON.stringify(event)}\n\n`)
    await fake.settle()
    exchange[how]()
  })
}
