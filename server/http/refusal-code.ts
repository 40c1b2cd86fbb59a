import { type RefusalCode, refusals } from '../../contract/refusals.ts'

/** The code of a refusal, and the values of its placeholders if it has any. */
interface Refusal {
  code: RefusalCode
  values?: Readonly<Record<string, string>>
}

/** What a placeholder can match; names and numbers are narrower than other values, so that texts are not confused. */
const valuePatterns: Readonly<Record<string, string>> = {
  field: String.raw`The input|[\w.]+`,
  key: String.raw`\w+`,
  ...Object.fromEntries(
    ['max', 'min', 'count', 'line', 'number'].map((name) => [name, String.raw`-?[\d.]+(?:e[+-]?\d+)?`]),
  ),
}

const codes = Object.entries(refusals) as [RefusalCode, string][]
const fixed = new Map(codes.filter(([, text]) => !text.includes('{')).map(([code, text]) => [text, code]))
/** Longer texts say more, so they come before shorter ones that match as well. */
const templates = codes
  .filter(([, text]) => text.includes('{'))
  .sort(([, a], [, b]) => literalLength(b) - literalLength(a))
  .map(([code, text]) => [code, patternOf(text)] as const)

function literalLength(text: string): number {
  return text.replaceAll(/\{\w+\}/g, '').length
}

function patternOf(text: string): RegExp {
  const parts = text.split(/\{(\w+)\}/)
  const pattern = parts.map((part, index) =>
    index % 2 === 1 ? `(?<${part}>${valuePatterns[part] ?? '.*'})` : part.replaceAll(/[^\w\s]/g, '\\$&'),
  )
  return new RegExp(`^${pattern.join('')}$`, 's')
}

/** Longest text in which a code is looked for. */
const longest = 1000

/** The code of a refusal with this text; undefined if the contract does not have the text. */
export function refusalOf(text: string): Refusal | undefined {
  const code = fixed.get(text)
  if (code !== undefined) return { code }
  if (text.length > longest) return undefined
  for (const [each, pattern] of templates) {
    const groups = pattern.exec(text)?.groups
    if (groups) return { code: each, values: { ...groups } }
  }
  return undefined
}
