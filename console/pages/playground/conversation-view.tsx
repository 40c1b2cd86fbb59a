import { Copy, RotateCcw } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { formatCount, formatQuota } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { type Answer, isRunning, type Turn } from './conversation.ts'

const Markdown = lazy(() => import('../../components/markdown.tsx').then((it) => ({ default: it.Markdown })))

const costDecimals = 6
/** A user who has scrolled this many pixels away from the end is reading something else. */
const followPx = 160

interface ViewProps {
  turns: readonly Turn[]
  /** Sends the question to a model again; undefined while that is not possible. */
  onRetry: ((lane: number, model: string) => void) | undefined
  /** Puts a suggested message into the input box. */
  onSuggestion(text: string): void
}

const suggestions = ['playground.try.explain', 'playground.try.code', 'playground.try.table'] as const

/** Questions and answers; the answers of two models are side by side. */
export function ConversationView({ turns, onRetry, onSuggestion }: ViewProps) {
  const t = useText()
  useFollow(turns)
  const answers = turns.at(-1)?.answers ?? []
  const running = answers.some(isRunning)
  return (
    <section aria-label={t('playground.conversation')} className="flex flex-1 flex-col">
      <p role="status" className="sr-only">
        {running
          ? t('playground.answering')
          : answers.some(({ state }) => state === 'done') && t('playground.answered')}
      </p>
      {turns.length === 0 && (
        <div className="grid flex-1 place-items-center rounded-lg border border-dashed border-edge">
          <EmptyState title={t('playground.empty')} text={t('playground.empty.text')}>
            {suggestions.map((key) => (
              <Button key={key} size="small" onClick={() => onSuggestion(t(key))}>
                {t(key)}
              </Button>
            ))}
          </EmptyState>
        </div>
      )}
      <ol className="flex flex-col gap-6">
        {turns.map((turn, place) => (
          <li key={turn.id} className="flex flex-col gap-3">
            <div className="ml-auto max-w-[85%] rounded-lg bg-active px-3.5 py-2.5">
              <p className="sr-only">{t('playground.you')}</p>
              <p className="break-words whitespace-pre-wrap" data-verbatim>
                {turn.question}
              </p>
            </div>
            <div className={`grid items-start gap-3 ${turn.answers.length > 1 ? 'md:grid-cols-2' : ''}`}>
              {turn.answers.map((answer, lane) => (
                <AnswerCard
                  // biome-ignore lint/suspicious/noArrayIndexKey: two answers may be of the same model
                  key={lane}
                  answer={answer}
                  onRetry={onRetry && place === turns.length - 1 ? () => onRetry(lane, answer.model) : undefined}
                />
              ))}
            </div>
          </li>
        ))}
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

function AnswerCard({ answer, onRetry }: { answer: Answer; onRetry: (() => void) | undefined }) {
  const t = useText()
  const { model, state, text, reasoning, error } = answer
  const known = figures(answer, t)
  return (
    <article
      aria-label={model}
      aria-busy={isRunning(answer)}
      data-state={state}
      className="min-w-0 rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 items-center gap-1 border-b border-line py-1 pr-1.5 pl-3.5">
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{model}</code>
        {text !== '' && (
          <IconButton label={t('playground.copy', { model })} icon={<Copy />} onClick={() => void copyText(text)} />
        )}
        {onRetry && <IconButton label={t('playground.retry', { model })} icon={<RotateCcw />} onClick={onRetry} />}
      </header>
      <div className="flex flex-col gap-3 px-3.5 py-3">
        {reasoning !== '' && (
          <details className="text-sm text-muted">
            <summary className="w-fit cursor-pointer font-medium">{t('playground.reasoning')}</summary>
            <p className="mt-1.5 border-l-2 border-line pl-3 break-words whitespace-pre-wrap" data-verbatim>
              {reasoning}
            </p>
          </details>
        )}
        {state === 'waiting' && <p className="text-sm text-muted">{t('playground.waiting')}</p>}
        {text !== '' && (
          <div className="leading-6" data-verbatim data-answer>
            <Suspense fallback={<p className="break-words whitespace-pre-wrap">{text}</p>}>
              <Markdown source={text} />
            </Suspense>
          </div>
        )}
        {state === 'done' && text === '' && <p className="text-sm text-muted">{t('playground.noText')}</p>}
        {state === 'stopped' && <p className="text-sm text-warn">{t('playground.stopped')}</p>}
        {error && (
          <Banner
            kind="bad"
            live
            title={
              error.status === 0 ? t('playground.failed') : t('playground.failed.status', { status: error.status })
            }
          >
            <p className="break-words" data-verbatim>
              {error.message}
            </p>
            {error.requestId !== undefined && !error.message.includes(error.requestId) && (
              <p className="mt-1 text-xs break-all">{t('error.request', { id: error.requestId })}</p>
            )}
          </Banner>
        )}
      </div>
      {(!error || known.length > 0) && (
        <p className="num min-h-8 border-t border-line px-3.5 py-1.5 text-xs text-muted">{known.join(' · ')}</p>
      )}
    </article>
  )
}

/** Times, tokens and cost of an answer, if known. */
function figures({ firstTextMs, writingMs, usage, cost }: Answer, t: Text): string[] {
  const all: string[] = []
  if (firstTextMs !== undefined) all.push(t('playground.stat.first', { ms: formatCount(Math.round(firstTextMs)) }))
  if (usage && writingMs !== undefined && writingMs > 0) {
    const speed = formatCount(Math.round((usage.completion / writingMs) * 10_000) / 10)
    all.push(t('playground.stat.speed', { speed }))
  }
  if (usage) {
    const { prompt, completion } = usage
    all.push(t('playground.stat.tokens', { prompt: formatCount(prompt), completion: formatCount(completion) }))
  }
  if (cost !== undefined) all.push(t('playground.stat.cost', { cost: formatQuota(cost, costDecimals) }))
  return all
}
