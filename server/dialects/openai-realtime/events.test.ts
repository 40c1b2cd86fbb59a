import { describe, expect, test } from 'bun:test'
import { eventType } from './events.ts'

const long = 'x'.repeat(100_000)

describe('finds the type of an event', () => {
  test.each<[form: string, text: string, type: string]>([
    ['first', '{"type":"response.create"}', 'response.create'],
    ['after the event id', '{"event_id":"e1","type":"response.create"}', 'response.create'],
    [
      'in any field of a short event',
      '{"item":{"type":"message"},"type":"conversation.item.create"}',
      'conversation.item.create',
    ],
    [
      'in any field of a long event',
      `{"item":{"type":"message","x":"${long}"},"type":"conversation.item.create"}`,
      'conversation.item.create',
    ],
    ['in a long event, written with escapes', `{"x":"${long}","type":"a\\u0062"}`, 'ab'],
    ['not in a nested object', `{"item":{"type":"message","x":"${long}"}}`, ''],
    ['not if the type is not a string', `{"x":"${long}","type":7}`, ''],
    ['not in text that is not JSON', long, ''],
  ])('%s', (_, text, type) => expect(eventType(text)).toBe(type))
})
