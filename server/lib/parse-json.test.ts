import { describe, expect, test } from 'bun:test'
import { JsonFault, type JsonLimits, type ParseOptions, parseJson } from './parse-json.ts'
import { Turns } from './turns.ts'

const limits: JsonLimits = { values: 1_000, containers: 100, names: 50, depth: 10 }
const mebibyte = 1024 * 1024

async function outcome(text: string | Uint8Array, options: Partial<ParseOptions> = {}) {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const turns = new Turns()
  try {
    const { value } = await parseJson(bytes, { limits, turns, ...options })
    return { value, turns: turns.count }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    return { fault: `${error.kind}: ${error.message}`, turns: turns.count }
  }
}

/** The given text in a list that begins with a long string, so that the whole text is long. */
const lengthened = (text: string, length = 3 * mebibyte) => `["${'x'.repeat(length)}",${text}]`

describe('a text beyond a limit is not parsed, whether it is short or long:', () => {
  const list = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`
  test.each<[name: string, text: string, words: string]>([
    ['levels', `${'['.repeat(11)}${']'.repeat(11)}`, 'is nested too deeply: at most 10 levels'],
    ['lists', list(101, '[]'), 'contains too many arrays and objects: at most 100'],
    ['objects', list(101, '{"a":1}'), 'contains too many arrays and objects: at most 100'],
    ['numbers', list(1_001, '0'), 'contains too many values: at most 1000'],
  ])('%s', async (_, text, words) => {
    expect((await outcome(text)).fault).toContain(`limit: ${words}`)
    expect((await outcome(lengthened(text))).fault).toContain(`limit: ${words}`)
    // This text is not valid JSON, but the limit is reported, because the text is not parsed.
    expect((await outcome(`${text}oops`)).fault).toContain('limit:')
  })

  test('too many different member names', async () => {
    const object = JSON.stringify(Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`name${index}`, 1])))
    expect((await outcome(lengthened(object))).fault).toContain('limit: contains too many different member names')
  })
})

test('a text at the limits is parsed', async () => {
  const deep = `${'['.repeat(10)}${']'.repeat(10)}`
  expect(await outcome(deep)).toEqual({ value: JSON.parse(deep), turns: 0 })
  const wide = Array.from({ length: 999 }, (_, index) => index)
  expect((await outcome(JSON.stringify(wide))).value).toEqual(wide)
})

test('a long text is read in steps of two mebibytes, and gives the same value as the parser', async () => {
  const text = lengthened('{"a":1}', 100)
  const numbers = `[${Array.from({ length: 3 * mebibyte }, () => ' ').join('')}1,2]`
  expect(await outcome(numbers)).toEqual({ value: [1, 2], turns: 2 + 2 })
  expect(await outcome(text)).toMatchObject({ turns: 0 })
})

test('a scan ends after the step in which a limit is exceeded, which is the first step for a long list of lists', async () => {
  expect((await outcome('[],'.repeat(10 * mebibyte))).turns).toBe(1)
})

test('encoding errors and syntax errors are distinguished', async () => {
  expect((await outcome('{"a":}')).fault).toBe('syntax: is not valid JSON')
  expect((await outcome(new Uint8Array([34, 0xff, 34]))).fault).toBe('encoding: is not valid UTF-8')
})

test('a text that `admit` refuses is not parsed', async () => {
  const wanted = new TextEncoder().encode('"model"')
  const seen: (string | undefined)[] = []
  const admit: ParseOptions['admit'] = async (scan) => {
    seen.push(scan.wantedString)
    throw new JsonFault('limit', 'is not wanted')
  }
  const text = `{"model":"m","x":"${'x'.repeat(mebibyte)}"} and no JSON`
  expect((await outcome(text, { admit, wanted })).fault).toBe('limit: is not wanted')
  expect(seen).toEqual(['"m"'])
})
