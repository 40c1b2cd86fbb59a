import { expect, test } from 'bun:test'
import { tryStringify } from './json.ts'

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
const objects = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`)

test('values with up to 500 levels are serialised', () => {
  expect(tryStringify(nested(500))).toBe(JSON.stringify(nested(500)))
  expect(tryStringify([objects(499), 'x', null, 1])).toBe(JSON.stringify([objects(499), 'x', null, 1]))
  expect(tryStringify('text')).toBe('"text"')
  expect(tryStringify(undefined)).toBeUndefined()
})

test('values with more than 500 levels are not serialised, however deep they are', () => {
  expect(tryStringify(nested(501))).toBeUndefined()
  expect(tryStringify({ a: objects(500) })).toBeUndefined()
  expect(tryStringify(nested(100_000))).toBeUndefined()
})
