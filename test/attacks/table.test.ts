import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')
const rows = [
  ...readFileSync(join(import.meta.dir, 'table.md'), 'utf8').matchAll(/^\| (8\.\d-\d+) \| (.+?) \| (.+) \|$/gm),
].map(([, item = '', attack = '', answer = '']) => ({ item, attack, answer }))

/** The titles of the tests of a file. */
function titles(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/\btest\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs)].map(([, , title = '']) =>
    title.replaceAll("\\'", "'"),
  )
}

test('both lists are complete and in order', () => {
  const numbered = (list: string, count: number) => Array.from({ length: count }, (_, at) => `${list}-${at + 1}`)
  expect(rows.map(({ item }) => item)).toEqual([...numbered('8.5', 19), ...numbered('8.6', 16)])
})

test('every item has a test here with its number, or a reason why it has none', () => {
  const own = new Map(
    readdirSync(import.meta.dir)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => [name, titles(join(import.meta.dir, name))]),
  )
  for (const { item, answer } of rows) {
    if (answer.startsWith('Cannot apply: ')) continue
    const named = [...answer.matchAll(/`([\w-]+\.test\.ts)`/g)].map(([, name = '']) => name)
    const holding = [...own]
      .filter(([, all]) => all.some((title) => title.split(' ').includes(item)))
      .map(([name]) => name)
    expect([item, holding.sort()]).toEqual([item, named.sort()])
    expect([item, named.length > 0]).toEqual([item, true])
  }
})

test('every test in another folder that the table names exists', () => {
  let checked = 0
  for (const { item, answer } of rows) {
    for (const part of answer.split('; ')) {
      const [, path = '', title] = /^`([\w-]+\/[^`]*)`(?:: (.+))?$/.exec(part) ?? []
      if (path === '') continue
      expect([item, path, existsSync(join(root, path))]).toEqual([item, path, true])
      if (title !== undefined)
        expect([item, title, titles(join(root, path)).includes(title)]).toEqual([item, title, true])
      checked++
    }
  }
  expect(checked).toBeGreaterThan(8)
})
