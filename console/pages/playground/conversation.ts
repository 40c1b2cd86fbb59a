import { useCallback, useEffect, useRef, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import type { ChatRequest } from '../../components/chat-snippets.ts'
import { queryClient } from '../../lib/query-client.ts'
import { selfQuery } from '../../lib/self.ts'
import { text } from '../../lib/text.ts'
import { keyOf } from '../../lib/token-key.ts'
import { ChatFailure, streamChat, type Usage } from './chat-stream.ts'
import type { Parameters } from './parameters.ts'
import { costOf, rememberModel } from './queries.ts'

/** The answer of one model so far. */
export interface Answer {
  model: string
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  text: string
  reasoning: string
  /** Milliseconds from the request to the first text. */
  firstTextMs?: number
  /** Milliseconds from the first text to the end. */
  writingMs?: number
  usage?: Usage
  /** The quota charged. */
  cost?: number
  error?: { status: number; message: string; requestId: string | undefined }
}

/** A question, and the answers of the models that it was sent to. */
export interface Turn {
  id: number
  question: string
  answers: readonly Answer[]
}

/** True while more of the answer is expected. */
export const isRunning = ({ state }: Answer) => state === 'waiting' || state === 'streaming'

const newAnswer = (model: string): Answer => ({ model, state: 'waiting', text: '', reasoning: '' })

/**
 * The messages sent to a model. They contain the model's own earlier answers; for a turn that was not sent to this
 * model, they contain the first model's answer.
 */
function messagesFor(turns: readonly Turn[], lane: number, question: string, system: string) {
  const before = turns.flatMap((turn) => {
    const answer = turn.answers[lane] ?? turn.answers[0]
    if (!answer || answer.text === '') return []
    return [
      { role: 'user', content: turn.question },
      { role: 'assistant', content: answer.text },
    ]
  })
  const head = system.trim() === '' ? [] : [{ role: 'system', content: system }]
  return [...head, ...before, { role: 'user', content: question }]
}

/** The request that sends a question to a model. */
export function requestFor(
  turns: readonly Turn[],
  ask: { lane: number; model: string; question: string } & Parameters,
) {
  const { lane, model, question, system, temperature, maxTokens } = ask
  return {
    model,
    messages: messagesFor(turns, lane, question, system),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  } satisfies ChatRequest
}

/** A conversation, which exists as long as the page is open. */
export function useConversation(token: Token, parameters: Parameters) {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef(new Set<AbortController>())
  const stop = useCallback(() => {
    for (const each of running.current) each.abort()
  }, [])
  // When the user leaves the page, running calls are aborted.
  useEffect(() => stop, [stop])

  const patch = (id: number, lane: number, change: (answer: Answer) => Answer) =>
    setTurns((all) => all.map((turn) => (turn.id === id ? withAnswer(turn, lane, change) : turn)))

  const ask = async (before: readonly Turn[], turn: Turn, lane: number, model: string) => {
    const controller = new AbortController()
    running.current.add(controller)
    const request = requestFor(before, { lane, model, question: turn.question, ...parameters })
    await receive(keyOf(token), request, controller.signal, (change) => patch(turn.id, lane, change))
    running.current.delete(controller)
    // The call has changed the user's balance.
    void queryClient.invalidateQueries({ queryKey: selfQuery.queryKey })
  }

  return {
    turns,
    busy: turns.some((turn) => turn.answers.some(isRunning)),
    stop,
    clear: () => {
      stop()
      setTurns([])
    },
    /** Sends the same question to every model. */
    send: (question: string, models: readonly string[]) => {
      const turn = { id: (turns.at(-1)?.id ?? 0) + 1, question, answers: models.map(newAnswer) }
      setTurns([...turns, turn])
      for (const [lane, model] of models.entries()) void ask(turns, turn, lane, model)
    },
    /** Requests another answer to the last question, from the currently chosen model. */
    retry: (lane: number, model: string) => {
      const last = turns.at(-1)
      if (!last) return
      patch(last.id, lane, () => newAnswer(model))
      void ask(turns.slice(0, -1), last, lane, model)
    },
  }
}

function withAnswer(turn: Turn, lane: number, change: (answer: Answer) => Answer): Turn {
  return { ...turn, answers: turn.answers.map((answer, index) => (index === lane ? change(answer) : answer)) }
}

type Patch = (change: (answer: Answer) => Answer) => void

/** Makes the call and records the arriving text with its times. Afterwards, it records the cost. */
async function receive(key: string, request: ChatRequest, signal: AbortSignal, patch: Patch): Promise<void> {
  const from = performance.now()
  let first: number | undefined
  let requestId: string | undefined
  const began = () => {
    first ??= performance.now()
    return { state: 'streaming' as const, firstTextMs: first - from }
  }
  const ended = () => (first === undefined ? {} : { writingMs: performance.now() - first })
  try {
    await streamChat({
      key,
      request,
      signal,
      brokenOff: text('playground.brokenOff'),
      listener: {
        onStart: (id) => {
          requestId = id
        },
        onText: (more) => {
          const times = began()
          patch((answer) => ({ ...answer, ...times, text: answer.text + more }))
        },
        onReasoning: (more) => {
          const times = began()
          patch((answer) => ({ ...answer, ...times, reasoning: answer.reasoning + more }))
        },
        onUsage: (usage) => patch((answer) => ({ ...answer, usage })),
      },
    })
    patch((answer) => ({ ...answer, ...ended(), state: 'done' }))
    rememberModel(request.model)
  } catch (error) {
    if (signal.aborted) patch((answer) => ({ ...answer, ...ended(), state: 'stopped' }))
    else {
      const { status, message } = error instanceof ChatFailure ? error : new ChatFailure(text('error.network'))
      patch((answer) => ({ ...answer, ...ended(), state: 'failed', error: { status, message, requestId } }))
    }
  }
  if (requestId === undefined || (first === undefined && !signal.aborted)) return
  const cost = await costOf(requestId)
  if (cost !== undefined) patch((answer) => ({ ...answer, cost }))
}
