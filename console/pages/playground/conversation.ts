import { useCallback, useEffect, useRef, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { queryClient } from '../../lib/query-client.ts'
import { selfQuery } from '../../lib/self.ts'
import { keyOf } from '../../lib/token-key.ts'
import type { Parameters } from './parameters.ts'
import { receive } from './receive.ts'
import { type Ask, type Extras, requestFor } from './request.ts'
import { type Answer, isAnswering, newRound, type Round, type Turn, withAnswer, withRound } from './turns.ts'

/** A model that answers, with its own parameters. */
export interface Lane {
  model: string
  parameters: Parameters
}

/** The question of a new turn. */
export type Question = Pick<Turn, 'question' | 'attachments'>

/** A conversation and its actions. */
export interface Conversation {
  turns: readonly Turn[]
  busy: boolean
  stop(): void
  /** Replaces the turns. With an empty list, the conversation starts again. */
  show(turns: readonly Turn[]): void
  /** Sends the same question to every model. The first `after` turns stay; later turns are removed. */
  send(question: Question, lanes: readonly Lane[], after?: number): void
  /** Requests another answer to the last question. */
  retry(lane: number, by: Lane): void
  /** Sends the results of function calls back to the model, in the order of the calls. */
  reply(turn: Turn, lane: number, results: readonly string[], parameters: Parameters): void
}

/** The conversation of the page, which lasts as long as the page is open. It begins with the turns in `first`. */
export function useConversation(token: Token, extras: Extras, first: readonly Turn[] = []): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>(first)
  const running = useRef(new Set<AbortController>())
  const stop = useCallback(() => {
    for (const each of running.current) each.abort()
  }, [])
  // When the user leaves the page, running calls are aborted.
  useEffect(() => stop, [stop])

  const patch = (turn: Turn, lane: number, change: (answer: Answer) => Answer) =>
    setTurns((all) => all.map((each) => (each.id === turn.id ? withAnswer(each, lane, change) : each)))
  const ask = async (before: readonly Turn[], turn: Turn, round: Round, by: Omit<Ask, 'turn' | 'extras'>) => {
    const controller = new AbortController()
    running.current.add(controller)
    const change = (next: (it: Round) => Round) => patch(turn, by.lane, (answer) => withRound(answer, round.id, next))
    await receive(keyOf(token), requestFor(before, { ...by, turn, extras }), controller.signal, change)
    running.current.delete(controller)
    // The call has changed the user's balance.
    void queryClient.invalidateQueries({ queryKey: selfQuery.queryKey })
  }
  const fresh = () => newRound(extras.format.kind !== 'text')

  return {
    turns,
    busy: turns.some((turn) => turn.answers.some(isAnswering)),
    stop,
    show: (next) => {
      stop()
      setTurns(next)
    },
    send: ({ question, attachments }, lanes, after = turns.length) => {
      const before = turns.slice(0, after)
      const id = (turns.at(-1)?.id ?? 0) + 1
      const rounds = lanes.map(fresh)
      const answers = lanes.map(({ model }, lane) => ({ model, rounds: rounds.slice(lane, lane + 1) }))
      const turn = { id, question, attachments, answers }
      setTurns([...before, turn])
      for (const [lane, round] of rounds.entries()) {
        const by = lanes[lane]
        if (by) void ask(before, turn, round, { lane, ...by })
      }
    },
    retry: (lane, by) => {
      const last = turns.at(-1)
      if (!last) return
      const round = fresh()
      patch(last, lane, () => ({ model: by.model, rounds: [round] }))
      void ask(turns.slice(0, -1), last, round, { lane, ...by })
    },
    reply: (turn, lane, results, parameters) => {
      const answer = turn.answers[lane]
      const last = answer?.rounds.at(-1)
      if (!answer || !last) return
      const full = withRound(answer, last.id, (round) => ({
        ...round,
        calls: round.calls.map((call, index) => ({ ...call, result: results[index] ?? '' })),
      }))
      const round = fresh()
      patch(turn, lane, () => ({ ...full, rounds: [...full.rounds, round] }))
      const before = turns.slice(0, turns.indexOf(turn))
      void ask(before, turn, round, { lane, model: answer.model, answer: full, parameters })
    },
  }
}
