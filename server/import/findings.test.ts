import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importTexts } from '../../contract/import-texts.ts'
import { createFindings, importTextOf } from './findings.ts'

const sources = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
  .map((name) => readFileSync(join(import.meta.dir, name), 'utf8'))

/** The text of a string or template literal in source code. Each `${…}` in a template is replaced by 7. */
function asText(literal: string): string {
  const body = literal.slice(1, -1)
  return (literal.startsWith('`') ? body.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '7') : body).replaceAll(
    /\\(.)/g,
    '$1',
  )
}

const literal = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
/** Sentences that need no code: the console writes them itself, or the code assembles them from parts. */
const others = new Set([
  'Nothing was changed.',
  'Done in 7 s.',
  'The import was cancelled.',
  'Prices: all 7 models cost the same as in the source.',
  'The installation is empty: ids are kept.',
  'The installation is empty. The source has no numeric ids: rows get new ones.',
  'The installation is in use: rows get new ids, and names that are taken get a suffix.',
  'This source was imported before: only new and changed data is imported.',
  '7 items without a counterpart here will be written to a file of JSON lines.',
  '7 items without a counterpart here were written to 7. The file may contain secrets.',
  'The source changed during the import. Run the command again to import the changes.',
  '7 does not use this option; 7 imported instead.',
  'The 7 is not valid here. 7: 7',
])

describe('codes of import messages', () => {
  test('every message in the source code of the import has a code', () => {
    const texts = sources
      .flatMap((text) => text.match(literal) ?? [])
      .map(asText)
      .filter((text) => /^(?:[A-Z7]|new-api).* .*[.7]$/s.test(text) && /[a-z] [a-z]+ [a-z]/.test(text))
    expect(texts.length).toBeGreaterThan(90)
    expect(texts.filter((text) => !others.has(text) && importTextOf(text) === undefined)).toEqual([])
  })

  test('importTextOf returns the code of a message and the values that were inserted into it', () => {
    for (const [code, text] of Object.entries(importTexts)) {
      const values: Record<string, string> = {}
      const filled = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        values[name] = name === 'key' ? 'name' : '20'
        return values[name]
      })
      expect([filled, importTextOf(filled)]).toEqual([
        filled,
        { code, ...(Object.keys(values).length > 0 && { values }) } as ReturnType<typeof importTextOf>,
      ])
    }
  })

  test('a finding has the code of its message and, if a field was refused, the code of the reason', () => {
    const findings = createFindings()
    findings.add(
      'channels',
      'The base_url is not valid here. It is dropped and the channel is disabled: Channel not found.',
    )
    findings.add('channels', 'The config is not valid here. It is dropped: somebody else says so')
    expect(findings.list()).toMatchObject([
      {
        code: 'channel_field_disables',
        values: { key: 'base_url', reason: 'Channel not found.' },
        reason: { code: 'channel_not_found' },
      },
      { code: 'channel_field_dropped', values: { key: 'config', reason: 'somebody else says so' } },
    ])
    expect(findings.list()[1]?.reason).toBeUndefined()
  })
})
