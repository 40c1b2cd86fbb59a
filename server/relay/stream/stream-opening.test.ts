import { describe, expect, test } from 'bun:test'
import { glanceAt } from './stream-opening.ts'

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: object, more: object = {}) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }], ...more })
const glance = (text: string) => glanceAt(new Uint8Array(Buffer.from(text)))

const role = chunk({ role: 'assistant', content: '' })
const silent: readonly string[] = [
  role,
  chunk({ content: '' }),
  chunk({ role: 'assistant' }),
  chunk({}),
  chunk({ role: 'assistant', content: null, refusal: null, tool_calls: null }),
  chunk({ role: 'assistant', content: '', reasoning_content: null }),
  chunk({ content: '' }, { usage: null }),
  event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }] }),
  event({ choices: [{ delta: { content: '', role: 'assistant' }, index: 0, finish_reason: null }] }),
  role + role,
]

describe('glanceAt, which looks for the first content of a stream without parsing its events,', () => {
  test.each(silent.map((text) => [text]))('recognizes that %s has no content', (text) => {
    expect(glance(text)).toBe('silent')
    expect(glance(text + chunk({ content: 'Hi' }))).toBe('speaks')
  })

  test.each([[{ content: 'Hi' }], [{ reasoning_content: 'Hm' }], [{ role: 'assistant', content: 'Hi' }]])(
    'recognizes content in a chunk with the delta %j',
    (delta) => expect(glance(chunk(delta))).toBe('speaks'),
  )

  test.each(
    [
      '',
      role.trimEnd(),
      role.slice(0, -20),
      'data: [DONE]\n\n',
      ': comment\n\n',
      'event: message_start\ndata: {"type":"message_start"}\n\n',
      event({ error: { message: 'no' } }),
      event({ choices: [] }),
      chunk({ content: '' }, { usage: { prompt_tokens: 1 } }),
      chunk({ tool_calls: [{ index: 0 }] }),
      chunk({ role: 'assistant', content: '', odd: 1 }),
      chunk({ role: 'user', content: '' }),
      event({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] }),
      event({
        choices: [
          { index: 0, delta: { content: '' } },
          { index: 1, delta: {}, finish_reason: null },
        ],
      }),
      event({ choices: [{ index: 1, delta: { content: '' }, finish_reason: null }] }),
      chunk({ content: '' }, { pad: 'x'.repeat(2000) }),
      role.repeat(5),
      role + event({ error: { message: 'no' } }),
      `${role}data: {`,
      'data: {"choices":[{"delta":{"content":"f(){}\n\n',
      `${chunk({ content: 'Hi' }).trimEnd()}\ndata: {}\n\n`,
    ].map((text) => [text]),
  )('returns undefined for %s, which must be parsed', (text) => expect(glance(text)).toBeUndefined())
})
