import { describe, expect, test } from 'bun:test'
import { eventType } from './events.ts'

const long = 'x'.repeat(100_000)

describe('finds the type of an event', () => {
  test.each<[form: string, text: string, type: string]>([
    ['first', '{"type":"response.create"}', 'response.create'],
    ['behind the id', '{"event_id":"e1","type":"response.create"}', 'response.create'],
    [
      'anywhere in a short one',
      '{"item":{"type":"message"},"type":"conversation.item.create"}',
      'conversation.item.create',
    ],
    [
      'anywhere in a long one',
      `{"item":{"type":"message","x":"${long}"},"type":"conversation.item.create"}`,
      'conversation.item.create',
    ],
    ['in a long one with escapes', `{"x":"${long}","type":"a\\u0062"}`, 'ab'],
    ['not in what lies within', `{"item":{"type":"message","x":"${long}"}}`, ''],
    ['not in what is no text', `{"x":"${long}","type":7}`, ''],
    ['not in what is no JSON', long, ''],
  ])('%s', (_, text, type) => expect(eventType(text)).toBe(type))
})
