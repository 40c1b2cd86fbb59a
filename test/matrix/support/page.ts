import type { CallerDialect } from '../../../contract/relay-paths.ts'
import { callerNames } from './callers.ts'
import { type Feature, features } from './features.ts'

/** The text of a row's cells: `passed`, or `not possible: <reason>`. */
export type Cells = Readonly<Record<Feature, string>>

/** The features that one caller can use with one provider. */
export interface Row {
  title: string
  type: number
  caller: CallerDialect
  cells: Cells
}

const head = `# What works with which provider

This page shows which features callers can use with each channel type. Callers use OpenAI's chat completions, OpenAI's
Responses API, Anthropic's Messages API or Google's \`generateContent\`, each with its official SDK.

\`test/matrix/matrix.test.ts\` tests every cell, with plain and with streamed responses. The SDK sends its request through
a running gateway, and a fake service responds in the provider's format. The test checks what the service received,
what the caller received and what was charged.

- "passed" means that the gateway supports the feature. Whether a particular model can see images or think depends on
  the model.
- "not possible" gives the reason why the service does not support the feature.

If a service has no tools, images or structured output, a request that needs them is sent to another channel that has
them, or is refused with status 400 before anything is charged. If a service cannot stream, the gateway requests a
complete response from it, and then streams this response to the caller.

\`WRITE_PAGES=1 npm test -- test/matrix/matrix.test.ts\` writes this page; the test fails if the page is out of date.
`

const names: Readonly<Record<CallerDialect, string>> = {
  'openai-chat': 'chat completions',
  'openai-responses': 'Responses',
  'anthropic-messages': 'Messages',
  gemini: 'generateContent',
}

/** The whole page. */
export function matrixPage(rows: readonly Row[]): string {
  const titles = [...new Set(rows.map(({ title, type }) => `${title} (${type})`))]
  const columns = ['Provider (channel type)', 'Caller', ...features]
  const lines = titles.flatMap((title) => linesOf(rows.filter((row) => `${row.title} (${row.type})` === title)))
  const table = [columns, columns.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`)
  return `${head}\n${table.join('\n')}\n`
}

/**
 * The lines of the table for one provider. If the cells of all four callers are the same, they share one line.
 * Otherwise, each caller has its own line.
 */
function linesOf(rows: readonly Row[]): string[][] {
  const texts = rows.map(({ cells }) => features.map((feature) => cells[feature]))
  const [first] = texts
  if (!first) return []
  const title = `${rows[0]?.title} (${rows[0]?.type})`
  const isSame = texts.length === callerNames.length && texts.every((each) => each.join() === first.join())
  if (isSame) return [[title, 'all four', ...first]]
  return rows.map(({ caller }, at) => [title, names[caller], ...(texts[at] ?? [])])
}
