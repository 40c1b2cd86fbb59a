import { Copy, RotateCcw } from 'lucide-react'
import { Suspense } from 'react'
import { ModelMark } from '../../components/provider-mark.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { formatCount, formatQuota } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { type Text, useText } from '../../lib/text.ts'
import { type Answer, isAnswering, needsResults, type Round } from './turns.ts'

const Markdown = lazy(() => import('../../components/markdown.tsx').then((it) => ({ default: it.Markdown })))
const ToolCalls = lazy(() => import('./tool-calls.tsx').then((it) => ({ default: it.ToolCalls })))
const JsonAnswer = lazy(() => import('./json-answer.tsx').then((it) => ({ default: it.JsonAnswer })))

const costDecimals = 6

interface AnswerCardProps {
  answer: Answer
  /** Requests the answer again; undefined while that is not possible. */
  onRetry: (() => void) | undefined
  /** Sends the results of function calls; undefined while that is not possible. */
  onReply: ((results: readonly string[]) => void) | undefined
}

/** The answer of one model, with figures for each round. */
export function AnswerCard({ answer, onRetry, onReply }: AnswerCardProps) {
  const t = useText()
  const { model, rounds } = answer
  const text = rounds
    .map((round) => round.text)
    .filter((words) => words !== '')
    .join('\n\n')
  return (
    <article
      aria-label={model}
      aria-busy={isAnswering(answer)}
      data-state={rounds.at(-1)?.state}
      className="min-w-0 rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-10 items-center gap-2 border-b border-line py-1 pr-1.5 pl-3">
        <ModelMark model={model} className="shrink-0" />
        <code className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{model}</code>
        {text !== '' && (
          <IconButton label={t('playground.copy', { model })} icon={<Copy />} onClick={() => void copyText(text)} />
        )}
        {onRetry && <IconButton label={t('playground.retry', { model })} icon={<RotateCcw />} onClick={onRetry} />}
      </header>
      {rounds.map((round, place) => (
        <RoundPart
          key={round.id}
          round={round}
          waits={place === rounds.length - 1 && needsResults(answer)}
          onReply={onReply}
        />
      ))}
    </article>
  )
}

interface RoundPartProps {
  round: Round
  /** Whether the model waits for the results of this round's function calls. */
  waits: boolean
  onReply: AnswerCardProps['onReply']
}

function RoundPart({ round, waits, onReply }: RoundPartProps) {
  const t = useText()
  const { state, text, calls, error } = round
  const known = figures(round, t)
  return (
    <>
      <div className="flex flex-col gap-3 px-3.5 py-3">
        <Reasoning round={round} />
        {state === 'waiting' && <p className="text-sm text-muted">{t('playground.waiting')}</p>}
        <Words round={round} />
        {calls.length > 0 && (
          <Suspense fallback={null}>
            <ToolCalls calls={calls} waits={waits} onReply={onReply} />
          </Suspense>
        )}
        {state === 'done' && text === '' && calls.length === 0 && (
          <p className="text-sm text-muted">{t('playground.noText')}</p>
        )}
        {state === 'stopped' && <p className="text-sm text-warn">{t('playground.stopped')}</p>}
        {error && <Failure error={error} />}
      </div>
      {(!error || known.length > 0) && (
        <p className="num min-h-8 border-y border-line px-3.5 py-1.5 text-xs text-muted last:border-b-0">
          {known.join(' · ')}
        </p>
      )}
    </>
  )
}

/** The reasoning, folded by default. */
function Reasoning({ round: { reasoning } }: { round: Round }) {
  const t = useText()
  if (reasoning === '') return null
  return (
    <details className="text-sm text-muted">
      <summary className="w-fit cursor-pointer font-medium">{t('playground.reasoning')}</summary>
      <p className="mt-1.5 border-l-2 border-line pl-3 break-words whitespace-pre-wrap" data-verbatim>
        {reasoning}
      </p>
    </details>
  )
}

/** The text as Markdown, or as JSON if JSON was requested. */
function Words({ round: { text, isJson, state } }: { round: Round }) {
  const t = useText()
  if (text === '') return null
  const plain = <p className="break-words whitespace-pre-wrap">{text}</p>
  return (
    <div className="leading-6" data-verbatim data-answer>
      <Suspense fallback={plain}>
        {isJson ? (
          <JsonAnswer text={text} isComplete={state === 'done'} />
        ) : (
          <Markdown source={text} copy={t('playground.copyCode')} />
        )}
      </Suspense>
    </div>
  )
}

function Failure({ error }: { error: NonNullable<Round['error']> }) {
  const t = useText()
  const { status, message, requestId } = error
  return (
    <Banner kind="bad" live title={status === 0 ? t('playground.failed') : t('playground.failed.status', { status })}>
      <p className="break-words" data-verbatim>
        {message}
      </p>
      {requestId !== undefined && !message.includes(requestId) && (
        <p className="mt-1 text-xs break-all">{t('error.request', { id: requestId })}</p>
      )}
    </Banner>
  )
}

const seconds = (ms: number) => (ms / 1000).toFixed(ms < 1000 ? 2 : 1)

/** Times, tokens and cost of a round, if known. */
function figures({ firstTextMs, writingMs, usage, cost }: Round, t: Text): string[] {
  const all: string[] = []
  if (firstTextMs !== undefined) all.push(t('playground.stat.first', { ms: formatCount(Math.round(firstTextMs)) }))
  if (firstTextMs !== undefined && writingMs !== undefined)
    all.push(t('playground.stat.total', { seconds: seconds(firstTextMs + writingMs) }))
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
