import { useEffect, useRef } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { AnswerCard } from './answer-card.tsx'
import { QuestionBubble } from './question-bubble.tsx'
import { isAnswering, type Turn } from './turns.ts'

const suggestions = ['playground.try.explain', 'playground.try.code', 'playground.try.table'] as const

/** If the user has scrolled further than this many pixels from the end, the view does not follow the answer. */
const followPx = 160

interface ViewProps {
  turns: readonly Turn[]
  /** Whether conversations are kept. */
  isKept: boolean
  /** Puts a suggested message into the input box. */
  onSuggestion(text: string): void
  /**
   * Sends the last question to a model again. `onRetry`, `onResend` and `onReply` are undefined while the action is not
   * possible.
   */
  onRetry: ((lane: number, model: string) => void) | undefined
  /** Replaces the turn at this position with a changed question, and sends it. */
  onResend: ((place: number, question: string) => void) | undefined
  /** Sends the results of function calls. */
  onReply: ((turn: Turn, lane: number, results: readonly string[]) => void) | undefined
}

/** Columns of the answers; more than two need a wide screen. */
function columnsOf(count: number): string {
  if (count < 2) return ''
  return count === 2
    ? 'md:grid-cols-2'
    : count === 3
      ? 'md:grid-cols-2 2xl:grid-cols-3'
      : 'md:grid-cols-2 2xl:grid-cols-4'
}

/** Questions and answers; the answers of several models are side by side. */
export function ConversationView({ turns, isKept, onSuggestion, onRetry, onResend, onReply }: ViewProps) {
  const t = useText()
  useFollow(turns)
  const answers = turns.at(-1)?.answers ?? []
  const running = answers.some(isAnswering)
  const done = answers.some(({ rounds }) => rounds.at(-1)?.state === 'done')
  return (
    <section aria-label={t('playground.conversation')} className="flex flex-1 flex-col">
      <p role="status" className="sr-only">
        {running ? t('playground.answering') : done && t('playground.answered')}
      </p>
      {turns.length === 0 && (
        <div className="grid flex-1 place-items-center rounded-lg border border-dashed border-edge">
          <EmptyState
            title={t('playground.empty')}
            text={t(isKept ? 'playground.empty.kept' : 'playground.empty.text')}
          >
            {suggestions.map((key) => (
              <Button key={key} size="small" onClick={() => onSuggestion(t(key))}>
                {t(key)}
              </Button>
            ))}
          </EmptyState>
        </div>
      )}
      <ol className="flex flex-col gap-6">
        {turns.map((turn, place) => {
          const isLast = place === turns.length - 1
          return (
            <li key={turn.id} className="flex flex-col gap-3">
              <QuestionBubble turn={turn} onResend={onResend && ((question) => onResend(place, question))} />
              <div className={`grid items-start gap-3 ${columnsOf(turn.answers.length)}`}>
                {turn.answers.map((answer, lane) => (
                  <AnswerCard
                    // biome-ignore lint/suspicious/noArrayIndexKey: two answers may be of the same model
                    key={lane}
                    answer={answer}
                    onRetry={onRetry && isLast ? () => onRetry(lane, answer.model) : undefined}
                    onReply={onReply && isLast ? (results) => onReply(turn, lane, results) : undefined}
                  />
                ))}
              </div>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** Keeps the end visible while an answer grows, unless the user has scrolled up. */
function useFollow(turns: readonly Turn[]): void {
  const count = useRef(turns.length)
  useEffect(() => {
    const page = document.documentElement
    const fromEnd = page.scrollHeight - page.clientHeight - page.scrollTop
    if (turns.length > count.current || (turns.length > 0 && fromEnd < followPx)) page.scrollTop = page.scrollHeight
    count.current = turns.length
  }, [turns])
}
