/** The code of a text, and the values of its placeholders if it has any. */
export interface CodedText<Code extends string> {
  code: Code
  values?: Record<string, string>
}

/**
 * The values that each placeholder can match. Names and numbers match fewer values than other placeholders, so that
 * similar texts are not confused.
 */
const valuePatterns: Readonly<Record<string, string>> = {
  field: String.raw`The input|[\w.]+`,
  key: String.raw`\w+`,
  ...Object.fromEntries(
    ['max', 'min', 'count', 'line', 'number'].map((name) => [name, String.raw`-?[\d.]+(?:e[+-]?\d+)?`]),
  ),
}

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

/** The maximum length of a text whose code is looked up. */
const longest = 1000

/**
 * Returns a function that finds the code of a text among `texts`, which contain placeholders of the form `{name}`. The
 * function returns undefined if no text matches.
 */
export function codedTexts<Code extends string>(
  texts: Readonly<Record<Code, string>>,
): (text: string) => CodedText<Code> | undefined {
  const codes = Object.entries(texts) as [Code, string][]
  const fixed = new Map(codes.filter(([, text]) => !text.includes('{')).map(([code, text]) => [text, code]))
  // Longer texts are tried first, because they are more specific than shorter texts that would also match.
  const templates = codes
    .filter(([, text]) => text.includes('{'))
    .sort(([, a], [, b]) => literalLength(b) - literalLength(a))
    .map(([code, text]) => [code, patternOf(text)] as const)
  return (text) => {
    const code = fixed.get(text)
    if (code !== undefined) return { code }
    if (text.length > longest) return undefined
    for (const [each, pattern] of templates) {
      const groups = pattern.exec(text)?.groups
      if (groups) return { code: each, values: { ...groups } }
    }
    return undefined
  }
}
