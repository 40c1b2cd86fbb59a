import { expect } from 'bun:test'
import type { DialectName } from '../../server/dialects/neutral/conversation.ts'
import { assemble, dataOf, decodeAll, dialects } from '../helpers/dialects.ts'
import type { Seen } from '../relay/setup.ts'

/** A stream without its keep-alives. */
export const withoutComments = (body: string) => body.replace(/^:.*\n\n/gm, '')

/** Reads the answer from the events of a stream. Throws if the events do not form one answer with one end. */
export function answerIn(
  caller: DialectName,
  seen: Seen,
  mostTexts = 1,
): { text: string; thought: string; usage: unknown; calls: unknown[] } {
  expect({ status: seen.status, broken: seen.broken }).toEqual({ status: 200, broken: false })
  const data = dataOf(withoutComments(seen.text))
  const { reply, ended, failure } = assemble(decodeAll(dialects[caller], data))
  if (failure || !ended) throw new Error(`the stream did not end: ${seen.text.slice(-500)}`)
  expect(reply.choices).toHaveLength(1)
  const parts = reply.choices[0]?.parts ?? []
  // The text before and after the break must be in one message, not in two.
  expect(parts.filter(({ type }) => type === 'text').length).toBeLessThanOrEqual(mostTexts)
  const of = (kind: string) => parts.map((part) => (part.type === kind && 'text' in part ? part.text : '')).join('')
  const calls = parts.flatMap((part) =>
    part.type === 'tool-call' ? [{ name: part.name, input: JSON.parse(part.input) as unknown }] : [],
  )
  return { text: of('text'), thought: of('reasoning'), usage: reply.usage, calls }
}

/** Checks the numbers and names of events according to the rules of each dialect. */
export function checkNames(caller: DialectName, { text }: Seen): void {
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
