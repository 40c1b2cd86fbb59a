import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const page = resolve(import.meta.dir, '../../docs/clients.md')

/** A table: its columns, and rows with the same number of cells. */
export interface Table {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

const cell = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()

/** A table in Markdown. */
export function markdown({ columns, rows }: Table): string {
  const lines = [columns, columns.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')
}

/** Writes a table, with the date, between the two markers with its name in docs/clients.md. */
export function writeTable(name: string, table: Table, day: string): void {
  const text = readFileSync(page, 'utf8')
  const [start, end] = [`<!-- ${name}: start -->`, `<!-- ${name}: end -->`]
  const [head, rest] = text.split(start)
  const [, tail] = (rest ?? '').split(end)
  if (head === undefined || tail === undefined) throw new Error(`docs/clients.md has no marks of "${name}"`)
  writeFileSync(page, `${head}${start}\nRun on ${day}.\n\n${markdown(table)}\n${end}${tail}`)
}
