import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PageTable } from '../../tools/first-parts.ts'
import { layouts, pages } from './pages.ts'

const folder = join(import.meta.dir, '../pages')
/** With this assignment, the compiler checks that the table has the type that the build expects. */
const table: PageTable = { pages, layouts }

test('every row belongs to an existing page, and every page has a row', () => {
  const named = new Set(pages.map(({ file }) => `${file}.page.tsx`))
  const existing = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.page\.tsx$/.test(name),
  )
  expect([...named].sort()).toEqual(existing.sort())
})

test('every module of a layout, and every module in `early`, exists', () => {
  const around = Object.values(table.layouts).flatMap(({ modules }) => modules.map((name) => `../app/${name}`))
  const early = table.pages.flatMap((page) => page.early ?? [])
  expect([...around, ...early].filter((name) => !existsSync(join(folder, name)))).toEqual([])
})

test('no path and no shortcut occurs twice', () => {
  const paths = pages.map(({ path }) => path)
  const keys = pages.flatMap(({ menu }) => menu?.key ?? [])
  expect([paths.length, keys.length]).toEqual([new Set(paths).size, new Set(keys).size])
})
