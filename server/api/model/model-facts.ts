import type { Modality, ModelFacts } from '../../../contract/api/model.ts'
import { nameCandidates } from '../../billing/name-candidates.ts'
import { modelFactsData } from './model-facts.gen.ts'

/** The registry from which the facts come, and the date of its data. */
export const factsSource = { source: modelFactsData.source, date: modelFactsData.date } as const

const modalityOf: Readonly<Record<string, Modality>> = { t: 'text', i: 'image', a: 'audio', v: 'video', p: 'pdf' }

let index: Map<string, string> | undefined

/**
 * The facts that the registry has about a model, or undefined. If the registry does not list a name with a date, a
 * region or a word such as "latest", the name is looked up without that part.
 *
 * A line of the table is `names = name|released|context|output|knowledge|reads>writes|flags`. Context and output are in
 * tokens, 0 if not known. Modalities are letters: text, image, audio, video, pdf. Flags: t tools, r reasoning, o open
 * weights.
 */
export function factsOf(model: string): ModelFacts | undefined {
  index ??= readTable()
  for (const candidate of nameCandidates(model.toLowerCase().replace(/^.*\//, ''))) {
    const line = index.get(candidate)
    if (line !== undefined) return parse(model, line)
  }
  return undefined
}

function readTable(): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of modelFactsData.table.split('\n')) {
    const equals = line.indexOf(' = ')
    if (equals < 0) continue
    for (const name of line.slice(0, equals).split(' ')) found.set(name, line.slice(equals + 3))
  }
  return found
}

function parse(model: string, line: string): ModelFacts {
  const [name = '', released = '', context = '', output = '', knowledge = '', modes = '', flags = ''] = line.split('|')
  const [reads = '', writes = ''] = modes.split('>')
  const modalities = (letters: string) => [...letters].flatMap((letter) => modalityOf[letter] ?? [])
  return {
    model,
    name,
    ...(released !== '' && { released }),
    ...(Number(context) > 0 && { context: Number(context) }),
    ...(Number(output) > 0 && { output: Number(output) }),
    ...(knowledge !== '' && { knowledge }),
    reads: modalities(reads),
    writes: modalities(writes),
    tools: flags.includes('t'),
    reasoning: flags.includes('r'),
    open_weights: flags.includes('o'),
  }
}
