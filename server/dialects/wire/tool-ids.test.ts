import { describe, expect, test } from 'bun:test'
import {
  chatRules,
  converseRules,
  fits,
  geminiRules,
  messagesRules,
  mistralRules,
  responsesRules,
  type ToolRules,
} from '../neutral/tool-rules.ts'
import { ToolIds } from './tool-ids.ts'

const all: Readonly<Record<string, ToolRules>> = {
  chat: chatRules,
  responses: responsesRules,
  messages: messagesRules,
  gemini: geminiRules,
  converse: converseRules,
  mistral: mistralRules,
}
const long = (letter: string, length: number) => letter.repeat(length)

/** Real ids, and ids that could collide with others. */
const odd = [
  'functions.Bash:0',
  'a:0',
  'a.0',
  'a_0',
  'a 0',
  'ä',
  '😀',
  '名字',
  '\ud800',
  'tgid_YTow',
  'tgid_YTow=',
  'tgid_',
  'tgid_dGdpZF9ZVG93',
  'tgid_!',
  'call_abc',
  'abcDEF123',
  long('x', 41),
  long('x', 65),
  long('x', 66),
  long('x', 300),
  `${long('x', 300)}y`,
  long('é', 80),
  '"\\\n',
]

describe.each(Object.entries(all))('ids for %s', (_name, rules) => {
  test('are valid and all different', () => {
    const ids = new ToolIds(rules.ids, odd, rules.uniqueIds)
    const out = odd.map((id) => ids.call(id))
    for (const id of out) expect([id, fits(id, rules.ids)]).toEqual([id, true])
    expect(new Set(out).size).toBe(odd.length)
    expect(odd.map((id) => ids.result(id))).toEqual(out)
  })

  test('are the same in every request, and valid ids are not changed', () => {
    const once = new ToolIds(rules.ids, ['a:0', 'call_abc']).call('a:0')
    expect(new ToolIds(rules.ids, ['call_abc', 'a:0', 'more']).call('a:0')).toBe(once)
    for (const id of ['call_abc', 'toolu_01A09q90qw90lq917835lq9', 'abcDEF123'])
      if (fits(id, rules.ids)) expect(new ToolIds(rules.ids, [id]).call(id)).toBe(id)
  })

  test('stay different if a request also contains the replacements of its invalid ids', () => {
    const made = new ToolIds(rules.ids, ['a:0', long('x', 999)])
    const taken = ['a:0', long('x', 999)].map((id) => made.call(id)).filter((id) => fits(id, rules.ids))
    const again = new ToolIds(rules.ids, ['a:0', long('x', 999), ...taken])
    const out = ['a:0', long('x', 999), ...taken].map((id) => again.call(id))
    expect(new Set(out).size).toBe(out.length - (taken.includes('a:0') ? 1 : 0))
  })
})

test('an invalid id is wrapped in another id, and is unwrapped for a service where it is valid', () => {
  const there = new ToolIds(messagesRules.ids, ['functions.Bash:0']).call('functions.Bash:0')
  expect(there).toMatch(/^[a-zA-Z0-9_-]+$/)
  expect(new ToolIds(chatRules.ids, [there]).call(there)).toBe('functions.Bash:0')
  expect(new ToolIds(messagesRules.ids, [there]).call(there)).toBe(there)
  // If a request contains both the wrapped and the original id, they belong to two different calls.
  const both = new ToolIds(chatRules.ids, [there, 'functions.Bash:0'])
  expect([both.call(there), both.call('functions.Bash:0')]).toEqual([there, 'functions.Bash:0'])
})

describe('missing and duplicate ids', () => {
  test('calls without an id get unique ids, and results without an id are matched with these calls in order', () => {
    for (const { ids: rule } of Object.values(all)) {
      const ids = new ToolIds(rule, ['', '', 'a', ''], true)
      const calls = [ids.call(''), ids.call('a'), ids.call('')]
      expect(new Set(calls).size).toBe(3)
      expect(calls.every((id) => fits(id, rule))).toBe(true)
      expect([ids.result(''), ids.result('')]).toEqual([calls[0], calls[2]] as string[])
    }
  })

  test('calls with the same id get different ids if the service requires unique ids', () => {
    const ids = new ToolIds(messagesRules.ids, ['a', 'a'], true)
    const first = ids.call('a')
    expect(ids.result('a')).toBe(first)
    const second = ids.call('a')
    expect(second).not.toBe(first)
    expect(ids.result('a')).toBe(second)
    expect(ids.result('a')).toBe(second)
    const alike = new ToolIds(chatRules.ids, ['a', 'a'])
    expect([alike.call('a'), alike.call('a')]).toEqual(['a', 'a'])
  })

  test('a result without an id belongs to the oldest call without a result', () => {
    const ids = new ToolIds(chatRules.ids, ['a', 'b', ''])
    ids.call('a')
    ids.call('b')
    expect(ids.result('a')).toBe('a')
    expect(ids.result('')).toBe('b')
    expect(fits(ids.result(''), chatRules.ids)).toBe(true)
  })
})
