import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quickCheck } from './quick-check-sqlite.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-'))
  file = join(folder, 'a.db')
  const database = new Database(file)
  database.run('PRAGMA page_size = 4096')
  database.run('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)')
  database.transaction(() => {
    for (let at = 0; at < 500; at++) database.run('INSERT INTO t (b) VALUES (?)', ['x'.repeat(200)])
  })()
  database.close()
})
afterEach(() => rmSync(folder, { recursive: true }))

test('an intact database has no faults', () => {
  expect(quickCheck(file)).toEqual([])
})

test('an overwritten page is found', () => {
  writeSync(openSync(file, 'r+'), Buffer.alloc(4096, 0xff), 0, 4096, 4096 * 10)
  expect(quickCheck(file).length).toBeGreaterThan(0)
})

test('a file that is not a database counts as a fault', () => {
  writeFileSync(file, 'no database at all '.repeat(400))
  expect(quickCheck(file).length).toBe(1)
})

test('a file that cannot be checked (locked, missing or a folder) is not a fault', () => {
  using other = new Database(file)
  other.run('BEGIN EXCLUSIVE')
  expect(() => quickCheck(file, 0)).toThrow('database is locked')
  other.run('ROLLBACK')
  expect(quickCheck(file, 0)).toEqual([])
  const missing = join(folder, 'missing.db')
  expect(() => quickCheck(missing)).toThrow('unable to open')
  expect(existsSync(missing)).toBe(false)
  expect(() => quickCheck(folder)).toThrow('disk I/O error')
})
