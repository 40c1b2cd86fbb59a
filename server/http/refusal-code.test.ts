import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refusals } from '../../contract/refusals.ts'
import { refusalOf } from './refusal-code.ts'

const root = resolve(import.meta.dir, '../..')

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
    .map((name) => readFileSync(join(root, folder, name), 'utf8'))
}

/** The text of a string literal or template in the source. Each placeholder of a template is replaced with a number. */
function asText(literal: string): string {
  const body = literal.slice(1, -1)
  return (literal.startsWith('`') ? body.replaceAll(/\$\{[^{}]*\}/g, '7') : body).replaceAll(/\\(.)/g, '$1')
}

const literal = String.raw`('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\`(?:\\.|[^\`\\])*\`)`
const literalsAfter = (start: string, files: readonly string[]) =>
  files.flatMap((text) =>
    [...text.matchAll(new RegExp(`${start}\\s*${literal}`, 'g'))].map(([, each]) => asText(`${each}`)),
  )

/**
 * Templates whose placeholders become words. `asText` puts numbers into them, so the results match no text of the
 * contract.
 */
const composed = [
  '7 7.',
  '7.',
  'The request body 7.',
  'You have 7 7 open already. Close one first.',
  '7 may have 7 pairs of a model and a group; these would be 7.',
]

describe('codes of refusals', () => {
  test('every refusal of the management API has a code', () => {
    const server = [...sources('server/api'), ...sources('server/http')]
    const texts = [
      ...literalsAfter(String.raw`(?:new ApiFailure|\bfailed|refusalBody)\(`, server),
      ...literalsAfter('message[:=] ?', sources('server/api/option')),
      ...literalsAfter(String.raw`new OutboundError\('\w+',`, sources('server/outbound')),
      ...literalsAfter(String.raw`new OptionError\(`, sources('server/settings')).map((text) => `${text}.`),
      ...literalsAfter("'(?:limit|encoding|syntax)',", sources('server/lib')).map(
        (text) => `The request body ${text}.`,
      ),
      ...literalsAfter('error:', sources('contract/api')).map((text) => `name ${text}.`),
    ]
    expect(texts.length).toBeGreaterThan(150)
    const without = texts.filter((text) => !composed.includes(text) && refusalOf(text) === undefined)
    expect(without).toEqual([])
  })

  test('for each text, refusalOf returns its code and the values of its placeholders', () => {
    for (const [code, text] of Object.entries(refusals)) {
      const values: Record<string, string> = {}
      const filled = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        values[name] = ['field', 'key'].includes(name) ? 'name' : '20'
        return values[name]
      })
      expect([filled, refusalOf(filled)]).toEqual([
        filled,
        { code, ...(Object.keys(values).length > 0 && { values }) } as ReturnType<typeof refusalOf>,
      ])
    }
  })

  test('texts of other services have no code', () => {
    for (const text of ['status code: 404', 'x'.repeat(100_000), '', 'You exceeded your current quota'])
      expect([text.slice(0, 40), refusalOf(text)]).toEqual([text.slice(0, 40), undefined])
  })
})
