import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importTexts } from '../../contract/import-texts.ts'
import { createFindings, importTextOf } from './findings.ts'

const sources = readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
  .map((name) => readFileSync(join(import.meta.dir, name), 'utf8'))

/** A string literal or template of the source code as text. Each value in a template becomes a number. */
function asText(literal: string): string {
  const body = literal.slice(1, -1)
  return (literal.startsWith('`') ? body.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '7') : body).replaceAll(
    /\\(.)/g,
    '$1',
  )
}

const literal = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
/** Sentences of the report that the console writes itself, and sentences that are put together from parts. */
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

describe('codes of sentences about imports', () => {
  test('every sentence has a code', () => {
    const texts = sources
      .flatMap((text) => text.match(literal) ?? [])
      .map(asText)
      .filter((text) => /^(?:[A-Z7]|new-api).* .*[.7]$/s.test(text) && /[a-z] [a-z]+ [a-z]/.test(text))
    expect(texts.length).toBeGreaterThan(90)
    expect(texts.filter((text) => !others.has(text) && importTextOf(text) === undefined)).toEqual([])
  })

  test('each sentence has its own code, and comes with the values that were inserted', () => {
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

  test('a finding has the code of its sentence, and the code of the refusal that caused it', () => {
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
