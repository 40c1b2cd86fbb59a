import { expect, test } from 'bun:test'
import { optionDefinitions } from '../../../contract/options.ts'
import { readTable, tableKindOf, withEntry, withLimit, withPair } from './option-tables.ts'

test('the default of every JSON option can be read as the table of the option', () => {
  for (const [key, definition] of Object.entries(optionDefinitions)) {
    if (definition.kind !== 'json') continue
    const kind = tableKindOf(key)
    if (kind) expect([key, readTable[kind](definition.default)]).not.toEqual([key, undefined])
  }
})

test('a text that the table cannot show completely is not read as a table', () => {
  expect(readTable.numbers('{"a":1,"b":"2"}')).toBeUndefined()
  expect(readTable.limits('{"a":{"rpm_limit":1,"other":2}}')).toBeUndefined()
  expect(readTable.limits('{"a":5}')).toBeUndefined()
  expect(readTable.orders('{"a":"random"}')).toBeUndefined()
  expect(readTable.texts('{"a":1}')).toBeUndefined()
  expect(readTable.pairs('{"a":{"b":"1"}}')).toBeUndefined()
  for (const broken of ['[', '[1]', '5']) expect(readTable.numbers(broken)).toBeUndefined()
  expect(readTable.pairs('')).toEqual({})
})

test('a changed entry keeps its position, and entries without a value are removed', () => {
  expect(JSON.parse(withEntry({ a: 1, b: 2 }, 'a', 3))).toEqual({ a: 3, b: 2 })
  expect(withEntry({ a: 1, b: 2 }, 'a', 3).indexOf('a')).toBeLessThan(withEntry({ a: 1, b: 2 }, 'a', 3).indexOf('b'))
  expect(JSON.parse(withEntry({ a: 1 }, 'a', undefined))).toEqual({})
  expect(withLimit({ rpm_limit: 5 }, 'rpm_limit', 0)).toEqual({})
  expect(withLimit({ rpm_limit: 5 }, 'daily_budget', 7)).toEqual({ rpm_limit: 5, daily_budget: 7 })
  expect(withPair({ fast: 1.5 }, 'fast', undefined)).toBeUndefined()
  expect(withPair({ fast: 1.5 }, 'slow', 1)).toEqual({ fast: 1.5, slow: 1 })
})
