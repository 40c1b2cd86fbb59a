import type { CapturedTurn } from '../../../contract/api/capture.ts'
import type { Handoff } from '../../lib/playground-handoff.ts'
import { efforts, emptySettings, type Settings } from './parameters.ts'
import { isRecord } from './schema-check.ts'
import { isFunctionName, mostTools, schemaTextProblem, type ToolDraft } from './tools.ts'
import { newRound, type Round, type Turn } from './turns.ts'

/** The initial state of the playground if another page passed it a request. */
export interface Start {
  settings: Settings
  turns: readonly Turn[]
  tools: readonly ToolDraft[]
  /** The last question, if it has no answer. */
  draft: string
  /** The number of files in the conversation. Their content is not known. */
  files: number
}

type Part = CapturedTurn['parts'][number]

const textsOf = (parts: readonly Part[], ...types: Part['type'][]) =>
  parts
    .filter(({ type }) => types.includes(type))
    .map(({ text }) => text)
    .join('\n\n')

function roundOf({ parts }: CapturedTurn, place: number): Round {
  const calls = parts
    .filter(({ type }) => type === 'tool_call')
    .map(({ name, text }, index) => ({ id: `call_${place}_${index}`, name, arguments: text }))
  return {
    ...newRound(false),
    state: 'done',
    text: textsOf(parts, 'text', 'refusal'),
    reasoning: textsOf(parts, 'reasoning'),
    calls,
  }
}

/** Adds the results to the function calls of the last round, in order. */
function withResults(round: Round, results: readonly string[]): Round {
  return { ...round, calls: round.calls.map((call, index) => ({ ...call, result: results[index] ?? '' })) }
}

/** A recorded conversation in the playground's form; the model that answered is `model`. */
function turnsOf(recorded: readonly CapturedTurn[], model: string): Turn[] {
  const turns: Turn[] = []
  const roundsOf = (turn: Turn | undefined) => turn?.answers[0]?.rounds ?? []
  const put = (turn: Turn, rounds: readonly Round[]) => {
    turns[turns.length - 1] = { ...turn, answers: [{ model, rounds }] }
  }
  for (const [place, each] of recorded.entries()) {
    const last = turns.at(-1)
    if (each.role === 'user') {
      const results = each.parts.filter(({ type }) => type === 'tool_result').map(({ text }) => text)
      const rounds = roundsOf(last)
      const asking = rounds.at(-1)
      if (last && asking && results.length > 0) put(last, [...rounds.slice(0, -1), withResults(asking, results)])
      const question = textsOf(each.parts, 'text', 'other')
      if (question !== '' || results.length === 0)
        turns.push({ id: turns.length + 1, question, attachments: [], answers: [] })
    } else if (each.role === 'assistant') {
      if (!last) turns.push({ id: 1, question: '', attachments: [], answers: [] })
      const turn = turns.at(-1)
      if (turn) put(turn, [...roundsOf(turn), roundOf(each, place)])
    }
  }
  return turns
}

/**
 * The first functions in the body of a chat completions request, at most `mostTools`. Functions that the playground
 * cannot send are omitted.
 */
function toolsOf(body: string): ToolDraft[] {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return []
  }
  const tools = isRecord(request) && Array.isArray(request['tools']) ? request['tools'] : []
  const drafts = tools.flatMap((tool: unknown) => {
    const own = isRecord(tool) ? tool['function'] : undefined
    if (!isRecord(own) || typeof own['name'] !== 'string') return []
    const { name, description, parameters } = own
    const schema = JSON.stringify(parameters ?? { type: 'object', properties: {} }, null, 2)
    if (!isFunctionName(name) || schemaTextProblem(schema)) return []
    return [{ name, description: typeof description === 'string' ? description : '', parameters: schema }]
  })
  return drafts.slice(0, mostTools)
}

/** Reads the request that another page passed on. */
export function startFrom({ model, parameters, conversation }: Handoff): Start {
  const recorded = conversation?.turns ?? []
  const turns = turnsOf(recorded, model)
  const last = turns.at(-1)
  const isOpen = last !== undefined && last.answers.length === 0
  const number = (value: number | undefined) => (value === undefined ? '' : String(value))
  return {
    settings: {
      ...emptySettings,
      system: recorded
        .filter(({ role }) => role === 'system')
        .map(({ parts }) => textsOf(parts, 'text'))
        .join('\n\n'),
      temperature: number(parameters.temperature),
      topP: number(parameters.top_p),
      maxTokens: number(parameters.max_tokens),
      effort: efforts.find((each) => each === parameters.reasoning_effort) ?? '',
    },
    turns: isOpen ? turns.slice(0, -1) : turns,
    tools: conversation ? toolsOf(conversation.body) : [],
    draft: isOpen ? last.question : '',
    files: recorded.flatMap(({ parts }) => parts).filter(({ type }) => type === 'media').length,
  }
}
