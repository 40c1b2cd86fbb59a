// A stream that breaks off and is continued by another channel equals the unbroken one, for callers of every dialect.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { assemble, dataOf, decodeAll, dialects } from '../helpers/dialects.ts'
import { type Seen, textOf } from '../relay/setup.ts'
import { type Break, goesOn, type RescueRig, says, startRescueRig } from './stage.ts'
import { cutsOf, type TextName, textNames, texts } from './texts.ts'

let rig: RescueRig

beforeAll(async () => {
  rig = await startRescueRig()
})
afterAll(() => rig[Symbol.asyncDispose]())

const callers: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']
const withoutComments = (body: string) => body.replace(/^:.*\n\n/gm, '')

/** The answer as a careful program reads it. Throws if the events do not make one answer with one end. */
function answerIn(caller: DialectName, seen: Seen): { text: string; thought: string; usage: unknown } {
  expect({ status: seen.status, broken: seen.broken }).toEqual({ status: 200, broken: false })
  const data = dataOf(withoutComments(seen.text))
  const { reply, ended, failure } = assemble(decodeAll(dialects[caller], data))
  if (failure || !ended) throw new Error(`the stream did not end: ${seen.text.slice(-500)}`)
  expect(reply.choices).toHaveLength(1)
  const parts = reply.choices[0]?.parts ?? []
  // One message, and not one before the seam and one after it.
  expect(parts.filter(({ type }) => type === 'text').length).toBeLessThanOrEqual(1)
  const of = (kind: string) => parts.map((part) => (part.type === kind && 'text' in part ? part.text : '')).join('')
  return { text: of('text'), thought: of('reasoning'), usage: reply.usage }
}

/** What each dialect says of the numbers and names of events. */
function checkNames(caller: DialectName, { text }: Seen): void {
  const events = dataOf(withoutComments(text))
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Record<string, unknown>)
  const all = (name: string) => new Set(events.map((event) => event[name]))
  const kinds = events.map(({ type }) => type)
  const ends = {
    'openai-chat': '[DONE]',
    'openai-responses': 'response.completed',
    'anthropic-messages': 'message_stop',
    gemini: 'STOP',
  }
  if (caller === 'openai-chat') {
    expect([all('id').size, all('model').size, all('created').size]).toEqual([1, 1, 1])
    expect(text.split('data: [DONE]')).toHaveLength(2)
  }
  if (caller === 'gemini') {
    expect([all('responseId').size, all('modelVersion').size]).toEqual([1, 1])
    expect(text.split('"finishReason"')).toHaveLength(2)
  }
  if (caller === 'anthropic-messages') {
    expect(kinds.filter((kind) => kind === 'message_start' || kind === ends[caller])).toEqual([
      'message_start',
      'message_stop',
    ])
    const open = new Set<unknown>()
    let next = 0
    for (const { type, index } of events) {
      if (type === 'content_block_start') {
        expect(index).toBe(next++)
        open.add(index)
      } else if (type === 'content_block_delta') expect(open.has(index)).toBe(true)
      else if (type === 'content_block_stop') expect(open.delete(index)).toBe(true)
    }
    expect(open.size).toBe(0)
  }
  if (caller === 'openai-responses') {
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index))
    expect(kinds.filter((kind) => kind === 'response.created' || kind === 'response.completed')).toHaveLength(2)
    const ids = events.flatMap(({ item_id: id, item }) => (id ?? (item as { id?: unknown })?.id) as string)
    expect(new Set(ids.filter((id) => id !== undefined)).size).toBe(1)
    const first = events[0]?.['response'] as { id: string }
    const last = events.at(-1)?.['response'] as {
      id: string
      status: string
      output: { content: { text: string }[] }[]
    }
    expect([last.id, last.status]).toEqual([first.id, 'completed'])
    expect(last.output[0]?.content[0]?.text).toBe(answerIn(caller, { status: 200, broken: false, text } as Seen).text)
  }
}

/** Breaks a text off and lets it go on. Returns what the caller got. */
async function rescued(
  caller: DialectName,
  text: string,
  cut: number,
  { how = 'end', repeats = 0, size = 7 }: { how?: Break; repeats?: number; size?: number } = {},
): Promise<Seen> {
  rig.next(says({ text: text.slice(0, cut), breaks: how, size }), goesOn(text, { repeats, size }))
  return rig.whole(caller)
}

/** Repetitions of this many code units are certain to be recognised. */
const repeatsOf = (name: TextName) => (name === 'cjk' ? 6 : name === 'emoji' ? 30 : 12)

describe.each(textNames)('the text %s', (name) => {
  const text = texts[name]

  test('is the same, wherever it breaks off', async () => {
    await rig.useServices('openai-chat', 'openai-chat')
    for (const cut of cutsOf(text, 50)) {
      const seen = await rescued('openai-chat', text, cut)
      expect([cut, answerIn('openai-chat', seen).text]).toEqual([cut, text])
      expect(textOf(withoutComments(seen.text))).toBe(text)
    }
  }, 60_000)

  test('is the same if the other model repeats its last words', async () => {
    await rig.useServices('openai-chat', 'openai-chat')
    for (const cut of cutsOf(text, 50)) {
      const seen = await rescued('openai-chat', text, cut, { repeats: repeatsOf(name), size: 1 + (cut % 9) })
      expect([cut, answerIn('openai-chat', seen).text]).toEqual([cut, text])
    }
  }, 60_000)

  describe.each(callers)('for callers of %s', (caller) => {
    test.each(callers)(
      'from services that speak %s',
      async (service) => {
        await rig.useServices(service, service)
        for (const [index, cut] of cutsOf(text, 6).entries()) {
          const how = (['end', 'error', 'reset', 'nonsense'] as const)[index % 4] ?? 'end'
          const seen = await rescued(caller, text, cut, { how, repeats: index % 2 ? repeatsOf(name) : 0 })
          expect([cut, how, answerIn(caller, seen).text]).toEqual([cut, how, text])
          checkNames(caller, seen)
        }
      },
      60_000,
    )
  })
})
