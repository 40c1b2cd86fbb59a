/** Writes docs/options.md from contract/options.ts: `node tools/bun.mjs tools/make-options-page.ts`. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OptionDefinition } from '../contract/option-kinds.ts'
import { optionSections } from '../contract/option-sections.ts'
import { optionDefinitions } from '../contract/options.ts'

const head = `# Options

Options are settings that can be changed while the server runs. They are stored in the database and take effect on all nodes at
once. \`GET /api/option/\` lists the values (admins only), and \`GET /api/option/definitions\` returns the table below.
\`PUT /api/option/\` with \`{"key": "RetryTimes", "value": "2"}\` changes one option. Values are always strings. Any admin can change
options marked *admin*; only a super admin (role 100) can change those marked *root*. An invalid value is rejected, and the old value
is kept. Secrets can be set, but are never shown. Settings of the process itself (port, database, keys) are
[environment variables](install.md#environment-variables). For the meaning of the ratios, see [Prices](prices.md).

This page is generated from \`contract/options.ts\` by \`node tools/bun.mjs tools/make-options-page.ts\`.
`

/** The text of the whole page. */
export function optionsPage(): string {
  const definitions: [string, OptionDefinition][] = Object.entries(optionDefinitions)
  const parts = Object.entries(optionSections).map(([section, { title }]) => {
    const rows = definitions.filter(([, option]) => option.section === section).map(rowOf)
    return `\n## ${title}\n\n| Option | Value | Default | Writer | What it does |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return head + parts.join('')
}

function rowOf([key, option]: [string, OptionDefinition]): string {
  const description = option.description.replaceAll('|', '\\|')
  return `| \`${key}\` | ${kindOf(option)} | ${defaultOf(option)} | ${option.writer} | ${description} |`
}

function kindOf({ kind, unit, choices, min, max, secret }: OptionDefinition): string {
  const names = { boolean: 'true or false', integer: 'whole number', number: 'number', json: 'JSON object' }
  const name =
    kind === 'choice' ? (choices ?? []).join(' or ') : kind === 'text' || kind === 'list' ? kind : names[kind]
  const range = min === undefined || max === undefined ? '' : `${plain(min)} to ${plain(max)}`
  const measure = [range, unit].filter((part) => part).join(' ')
  return [name, measure, secret ? 'secret' : ''].filter((part) => part).join(', ')
}

function defaultOf({ default: value }: OptionDefinition): string {
  return value === '' ? 'empty' : `\`${value}\``
}

function plain(value: number): string {
  return value.toLocaleString('en-US')
}

if (import.meta.main) {
  const file = resolve(import.meta.dirname, '../docs/options.md')
  writeFileSync(file, optionsPage())
  console.log(`${file} written`)
}
