import { describe, expect, test } from 'bun:test'
import { countPlainMembers, findTwice, insertMembers, removeMember, setMembers } from './json-edit.ts'
import { JsonScan } from './json-scan.ts'

describe('removeMember', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"a":1}', '{}'],
    ['{"b":1}', '{"b":1}'],
    ['{ "a" : [1, {"a":2}] , "b":2 }', '{ "b":2 }'],
    ['{"b":{"a":1},"a":1}', '{"b":{"a":1}}'],
    ['{"b":1, "a":"}{" ,"c":1.10}', '{"b":1, "c":1.10}'],
    ['{"a":1,"a":2,"b":3,"a":4}', '{"b":3}'],
    ['{"\\u0061":1,"b":2}', '{"b":2}'],
    ['{}', '{}'],
  ]
  for (const [text, expected] of cases) {
    test(`${text} without a`, () => {
      expect(removeMember(text, 'a')).toBe(expected)
      expect(() => JSON.parse(removeMember(text, 'a'))).not.toThrow()
    })
  }
})

describe('setMembers', () => {
  const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['{"a":1}', {}, '{"a":1}'],
    ['{"a":1}', { a: 2 }, '{"a":2}'],
    ['{ "a" : 1 , "b":2 }', { a: 'x' }, '{ "a" : "x" , "b":2 }'],
    ['{"b":{"a":1},"a":1}', { a: 2 }, '{"b":{"a":1},"a":2}'],
    ['{"b":[{"a":1}],"a":[1,{"a":2}]}', { a: null }, '{"b":[{"a":1}],"a":null}'],
    ['{"b":"\\"a\\":1","a":"}{\\\\"}', { a: 2 }, '{"b":"\\"a\\":1","a":2}'],
    ['{"b":"\\\\\\\\","a":1}', { a: 2 }, '{"b":"\\\\\\\\","a":2}'],
    ['{"\\u0061":1}', { a: 2 }, '{"\\u0061":2}'],
    ['{"a":1,"a":1}', { a: 2 }, '{"a":2,"a":2}'],
    ['{"a":1,"b":1,"a":1,"a":1}', { b: 3, a: 2 }, '{"a":2,"b":3,"a":1,"a":2}'],
    [
      '{"n":1.10,"e":-1E+2,"big":12345678901234567890,"a":true}',
      { a: false },
      '{"n":1.10,"e":-1E+2,"big":12345678901234567890,"a":false}',
    ],
    ['{}', { a: 1 }, '{"a":1}'],
    [' {\n} ', { a: 1 }, ' {"a":1\n} '],
    ['{"b":1}', { a: 1, b: 2 }, '{"a":1,"b":2}'],
    ['{"a":-0.5\n,\t"b":null\r\n}', { b: 1 }, '{"a":-0.5\n,\t"b":1\r\n}'],
    ['{"é🚀":"東","a":1}', { a: '🚀' }, '{"é🚀":"東","a":"🚀"}'],
    ['{"":1,"a":1}', { '': 2 }, '{"":2,"a":1}'],
    ['{"__proto__":1,"a":1}', { a: 2 }, '{"__proto__":1,"a":2}'],
  ]
  for (const [text, values, expected] of cases) {
    test(`${JSON.stringify(values)} in ${text}`, () => {
      const result = setMembers(text, values)
      expect(result).toBe(expected)
      expect(JSON.parse(result)).toMatchObject(values)
    })
  }
})

test('insertMembers puts members at the front', () => {
  expect(insertMembers('{"a":1}', [['b', 2]])).toBe('{"b":2,"a":1}')
  expect(
    insertMembers(' { } ', [
      ['b', [1]],
      ['c', 'x'],
    ]),
  ).toBe(' {"b":[1],"c":"x" } ')
})

describe('duplicate members', () => {
  const shapeOf = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    const scan = new JsonScan(bytes)
    scan.step(bytes.length)
    return scan
  }
  const isTwice = (text: string) =>
    countPlainMembers(JSON.parse(text) as Record<string, unknown>) !== shapeOf(text).plainMembers

  const twice: [text: string, path: string][] = [
    ['{"model":1,"model":2}', 'model'],
    ['{"model":1,"mod\\u0065l":2}', 'model'],
    ['{"\\u006D\\u006f\\u0064\\u0065\\u006C":1,"x":[],"model":2}', 'model'],
    ['{ "x" : {"model":1}, "model" :1 ,\n"model":{}}', 'model'],
    ['{"x":"\\\\","model":1,"y":"\\"","model":2}', 'model'],
    ['{"a":{"b":{"c":1 , "d":[{}],"c" : 2}}}', 'a.b.c'],
    [' {"a":{},"b":{"x":1},"c":{"x":1,"y":"}","x":{}}}', 'c.x'],
    ['{"":1,"":2}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ]
  test.each(twice)('are detected, and the path of the first one is returned: %s', (text, path) => {
    expect(isTwice(text)).toBe(true)
    expect(findTwice(text)).toBe(path)
  })

  test.each([
    '{"model":1}',
    '{}',
    '{"x":{"model":1,"y":[{"model":2}]},"model":1}',
    '{"model":"model","x":"\\"model\\":1"}',
    '{"models":1,"model":1,"amodel":"\\u00e9"}',
    '{"model\\u0000":1,"model":1}',
    '{"x":[{"a":1},{"a":1,"b":{"a":2}}],"a":{"a":{"a":[]}}}',
    '{"__proto__":{"a":1},"constructor":{"a":1}}',
  ])('are not reported for %s', (text) => {
    expect(isTwice(text)).toBe(false)
    expect(findTwice(text)).toBeUndefined()
  })

  test('are not detected in objects within lists', () => {
    expect(isTwice('{"x":[{"a":1,"a":2}]}')).toBe(false)
  })
})
