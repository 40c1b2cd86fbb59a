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

Every cell is proven by \`test/matrix/matrix.test.ts\`, both for whole and for streamed answers. The SDK sends its request
through a running gateway, and a fake service answers in the provider's format. The test compares what the caller
receives, what the service was sent and what was charged. "passed" means that the gateway supports the feature; whether
a certain model can see images or think depends on the model. "not possible" gives the reason why the service cannot do
it. If a service has no tools, images or structured output, a request that needs them goes to another channel that has
them, or is refused with status 400 before anything is charged. A service that cannot stream is asked for a whole
answer, which the gateway then streams.

This page is written by \`WRITE_PAGES=1 npm test -- test/matrix/matrix.test.ts\`; the test fails if the page is out of
date.
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

/** One line for all callers if their cells are the same. */
function linesOf(rows: readonly Row[]): string[][] {
  const texts = rows.map(({ cells }) => features.map((feature) => cells[feature]))
  const [first] = texts
  if (!first) return []
  const title = `${rows[0]?.title} (${rows[0]?.type})`
  const isSame = texts.length === callerNames.length && texts.every((each) => each.join() === first.join())
  if (isSame) return [[title, 'all four', ...first]]
  return rows.map(({ caller }, at) => [title, names[caller], ...(texts[at] ?? [])])
}
