import type { Attachment } from './attachments.ts'
import type { Usage } from './chat-stream.ts'

/** A function call that a model requested. */
export interface ToolCall {
  id: string
  name: string
  /** JSON, as the model wrote it. */
  arguments: string
  /** State of the provider that must be sent back with the call. */
  extra?: Readonly<Record<string, unknown>>
  /** The function's result as the user entered it; undefined before that. */
  result?: string
}

/** One request to a model and its response so far. */
export interface Round {
  /** Unique, so that a late response cannot be added to another round. */
  id: number
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  text: string
  reasoning: string
  /** Reasoning in the form that must be sent back with the results of function calls. */
  details: readonly unknown[]
  calls: readonly ToolCall[]
  /** Whether JSON was requested. */
  isJson?: boolean
  /** Milliseconds from the request to the first text. */
  firstTextMs?: number
  /** Milliseconds from the first text to the end. */
  writingMs?: number
  usage?: Usage
  /** The quota charged. */
  cost?: number
  error?: { status: number; message: string; requestId: string | undefined }
}

/** The answer of a model. Each time the user sends results of function calls, the answer gets another round. */
export interface Answer {
  model: string
  rounds: readonly Round[]
}

/** A question, and the answers of the models that it was sent to. */
export interface Turn {
  id: number
  question: string
  attachments: readonly Attachment[]
  answers: readonly Answer[]
}

// Ids start at the current time, because rounds from earlier visits may be shown beside new ones.
let lastId = Date.now()

/** A round that has just begun. */
export function newRound(isJson: boolean): Round {
  lastId++
  return { id: lastId, state: 'waiting', text: '', reasoning: '', details: [], calls: [], ...(isJson && { isJson }) }
}

/** True while more of the round is expected. */
const isRunning = ({ state }: Round) => state === 'waiting' || state === 'streaming'

/** True while more of the answer is expected. */
export const isAnswering = ({ rounds }: Answer) => rounds.some(isRunning)

/** Whether the model waits for the results of function calls. */
export function needsResults({ rounds }: Answer): boolean {
  const last = rounds.at(-1)
  return last?.state === 'done' && last.calls.some(({ result }) => result === undefined)
}

/** Changes one answer of a turn. */
export function withAnswer(turn: Turn, lane: number, change: (answer: Answer) => Answer): Turn {
  return { ...turn, answers: turn.answers.map((answer, index) => (index === lane ? change(answer) : answer)) }
}

/** Changes one round of an answer. */
export function withRound(answer: Answer, id: number, change: (round: Round) => Round): Answer {
  return { ...answer, rounds: answer.rounds.map((round) => (round.id === id ? change(round) : round)) }
}
