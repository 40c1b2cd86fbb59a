import { expect, test } from 'bun:test'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import { languageCodes, languages } from './languages.ts'
import { formatMessage, type Message, type MessageValues } from './message-format.ts'

const format = (source: string, values?: MessageValues, tag = 'en') =>
  formatMessage(compileMessage(source) as Message, tag, values)

test('a message without placeholders is shown unchanged', () => {
  expect([format('Save'), format('1 # of')]).toEqual(['Save', '1 # of'])
})

test('placeholders are replaced, and one without a value becomes empty', () => {
  expect(format('{name} has {count} left', { name: '<b>', count: 1234 })).toBe('<b> has 1234 left')
  expect(format('{name}.')).toBe('.')
})

test('numbers are grouped as the language requires', () => {
  expect(format('{n, number} rows', { n: 1_234_567 })).toBe('1,234,567 rows')
  expect(format('{n, number}', { n: 1_234_567 }, 'de')).toBe('1.234.567')
})

test('a plural uses the form for the exact number (`=0`) before the plural forms of the language', () => {
  const source = '{n, plural, =0 {nothing} one {# row of {name}} other {# rows of {name}}}!'
  const of = (n: number, tag?: string) => format(source, { n, name: 'x' }, tag)
  expect([of(0), of(1), of(2000)]).toEqual(['nothing!', '1 row of x!', '2,000 rows of x!'])
  expect(of(1, 'ja')).toBe('1 rows of x!')
})

test('the messages use only features that the formatter supports', async () => {
  const folder = `${import.meta.dir}/../messages`
  const kinds = new Set<string>()
  const visit = (message: unknown): void => {
    if (!Array.isArray(message)) return
    for (const part of message as unknown[]) {
      if (!Array.isArray(part)) continue
      const [, kind, forms] = part as [string, string?, Record<string, unknown>?]
      if (kind !== undefined) kinds.add(kind)
      if (kind === 'plural') for (const form of Object.values(forms ?? {})) visit(form)
      else expect(forms).toBeUndefined()
      expect(forms?.['offset']).toBeUndefined()
    }
  }
  for (const name of new Bun.Glob(`*.{${languageCodes.join(',')}}.ts`).scanSync(folder)) {
    const [catalogue] = Object.values((await import(`${folder}/${name}`)) as Record<string, Record<string, string>>)
    for (const message of Object.values(catalogue ?? {})) visit(compileMessage(message))
  }
  expect([...kinds].sort()).toEqual(['number', 'plural'])
  expect(Object.keys(languages).length).toBeGreaterThan(2)
})
