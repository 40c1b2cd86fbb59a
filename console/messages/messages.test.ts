import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { languageCodes } from '../lib/languages.ts'

const folder = import.meta.dir
/** The languages that are translations of English, the reference. */
const translations = languageCodes.filter((code) => code !== 'en')
const areas = readdirSync(folder).flatMap((name) => /^(.+)\.en\.ts$/.exec(name)?.[1] ?? [])

async function catalogue(area: string, language: string): Promise<Record<string, string>> {
  const [messages] = Object.values(await import(join(folder, `${area}.${language}.ts`)))
  return messages as Record<string, string>
}

/** The names of a message's placeholders: `name` in `{name}`, and `n` in `{n, plural, …}`. */
function placeholders(message: string): string[] {
  const found = [...message.matchAll(/\{(\w+)(?:,|\})/g)].map((match) => match[1] ?? '')
  return [...new Set(found)].sort()
}

describe('messages', () => {
  test('every English file belongs to an area in `namespaces.ts`', () => {
    const table = readFileSync(join(folder, 'namespaces.ts'), 'utf8')
    expect(areas.filter((area) => !table.includes(`  ${area}: typeof`))).toEqual([])
  })

  for (const language of translations)
    for (const area of areas) {
      test(`${area}.${language}: has the keys and placeholders of English, and no text is empty`, async () => {
        const [english, translated] = [await catalogue(area, 'en'), await catalogue(area, language)]
        expect(Object.keys(translated).sort()).toEqual(Object.keys(english).sort())
        for (const [key, message] of Object.entries(english)) {
          expect([key, placeholders(translated[key] ?? '')]).toEqual([key, placeholders(message)])
          expect([key, message.trim() !== '' && translated[key]?.trim() !== '']).toEqual([key, true])
        }
      })
    }

  test('the name of every file ends with a language of the console', () => {
    const found = readdirSync(folder).flatMap((name) => /\.(\w+)\.ts$/.exec(name)?.[1] ?? [])
    expect([...new Set(found)].sort()).toEqual([...languageCodes, 'test'].sort())
  })

  test('every text is used: each key, or the prefix from which it is composed, occurs in the source', async () => {
    const root = resolve(folder, '..')
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^messages\//.test(name))
      .map((name) => readFileSync(join(root, name), 'utf8'))
      .join('\n')
    const prefixes = [...sources.matchAll(/`([\w.]+\.)\$\{/g)].map((match) => match[1] ?? '')
    const keys = (await Promise.all(areas.map((area) => catalogue(area, 'en')))).flatMap((each) => Object.keys(each))
    const unused = keys.filter(
      (key) => !sources.includes(`'${key}'`) && !prefixes.some((prefix) => key.startsWith(prefix)),
    )
    expect(unused).toEqual([])
  })
})
