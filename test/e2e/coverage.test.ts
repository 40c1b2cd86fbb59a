// coverage.md lists which test proves which part of the specification. This file checks that coverage.md matches the
// tests, texts and routes.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pages } from '../../console/app/pages.ts'

const root = join(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Row {
  section: string
  what: string
  file: string
  name: string
}

const page = read('test/e2e/coverage.md')

/** The rows under a heading of coverage.md. */
function rowsUnder(heading: string): Row[] {
  const part = page.split(/^## /m).find((each) => each.startsWith(heading)) ?? ''
  return [...part.matchAll(/^\| (\d) \| (.*?) \| ([\w-]+) \| (.*) \|$/gm)].map(
    ([, section = '', what = '', file = '', name = '']) => ({ section, what, file, name }),
  )
}

const stories = new Map<string, Map<string, string>>()

/** The tests of a file by title, each with its source: the text from its title to the title of the next test. */
function storiesOf(file: string): Map<string, string> {
  const known = stories.get(file)
  if (known) return known
  const found = new Map<string, string>()
  const text = read(`test/e2e/${file}.test.ts`)
  const starts = [...text.matchAll(/\btest\(\s*(['`])((?:(?!\1).)*)\1/g)]
  for (const [index, match] of starts.entries()) {
    // In coverage.md, interpolated parts of a title are written as ….
    const name = (match[2] ?? '').replaceAll(/\$\{[^}]*\}/g, '…')
    found.set(name, text.slice(match.index, starts[index + 1]?.index))
  }
  stories.set(file, found)
  return found
}

/** Every English text of the console. */
const texts = readdirSync(join(root, 'console/messages'))
  .filter((name) => name.endsWith('.en.ts'))
  .flatMap((name) => [...read(`console/messages/${name}`).matchAll(/^ {2}'[\w.]+':\s*'((?:[^'\\]|\\.)*)',$/gm)])
  .map((match) => match[1] ?? '')

/** The parts of a text that do not depend on its values. */
const fixedParts = (text: string) =>
  text
    .split(/\{\w+\}/)
    .map((part) => part.replace(/^[\s.:,]+|[\s.:,]+$/g, ''))
    .filter((part) => part.length > 2)

const [routes, words, rules] = [rowsUnder('Routes'), rowsUnder('Texts'), rowsUnder('Rules')]

describe('coverage.md', () => {
  test('names only tests that exist and whose titles include the section', () => {
    const wrong = [...routes, ...words, ...rules].filter(
      ({ section, file, name }) =>
        !storiesOf(file).has(name) || !new RegExp(`^spec (?:\\d, )*${section}\\b`).test(name),
    )
    expect(wrong.map(({ section, file, name }) => `${section} ${file}: ${name}`)).toEqual([])
    expect(routes.length + words.length + rules.length).toBeGreaterThan(150)
  })

  test('lists only texts that appear word for word in the message catalogues and in their tests', () => {
    expect(words.filter(({ what }) => !texts.includes(what)).map(({ what }) => what)).toEqual([])
    const unproven = words.filter(({ what, file, name }) => {
      const story =
        storiesOf(file)
          .get(name)
          ?.replaceAll(/\\([./])/g, '$1') ?? ''
      return !fixedParts(what).every((part) => story.includes(part))
    })
    expect(unproven.map(({ what, name }) => `${what}: ${name}`)).toEqual([])
  })

  test('lists every message of the specification; all console messages ending in ! come from the specification', () => {
    const named = new Set(words.map(({ what }) => what))
    expect(texts.filter((text) => text.endsWith('!') && !named.has(text))).toEqual([])
  })

  test('lists every route of the console', () => {
    const paths: string[] = [...pages.map(({ path }) => path), '$']
    const named = new Set(routes.map(({ what }) => what))
    expect(paths.filter((path) => !named.has(path))).toEqual([])
    expect([...named].filter((path) => !paths.includes(path))).toEqual([])
  })
})
