import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { formatCount, formatTime, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { LogTypeLabel } from './log-parts.tsx'
import { channelNameQuery } from './queries.ts'
import type { LogSearch } from './search.ts'

const aroundSeconds = 300

interface LogPeekProps {
  /** Undefined: the row is not on the page that is shown. */
  log: Log | undefined
  everybody: boolean
  onClose(): void
  onSearch(change: Partial<LogSearch>): void
}

/** The drawer of a log row: how its price came about, and ways to rows like it. */
export function LogPeek({ log, everybody, onClose, onSearch }: LogPeekProps) {
  const t = useText()
  return (
    <Drawer
      open
      onClose={onClose}
      title={log?.model_name || t('log.peek.title')}
      aside={log && <LogTypeLabel type={log.type} />}
    >
      {log ? (
        <>
          {log.type === logType.consume && <Price log={log} />}
          <Facts log={log} everybody={everybody} />
          <Similar log={log} everybody={everybody} onSearch={onSearch} />
        </>
      ) : (
        <EmptyState title={t('log.peek.gone')} />
      )}
    </Drawer>
  )
}

const ratios = /([\d.]+) × ([\d.]+) × ([\d.]+)/

/** How the charge comes from tokens and ratios; undefined when that is not the whole story. */
function formulaOf(log: Log): string | undefined {
  const match = ratios.exec(log.content)
  if (!match) return undefined
  const [, model = '', completion = '', group = ''] = match
  const exact = (log.prompt_tokens + log.completion_tokens * Number(completion)) * Number(model) * Number(group)
  // Rounded up once; other token classes have prices of their own.
  if (Math.abs(Math.ceil(exact - 1e-6) - log.quota) > 1e-6) return undefined
  return `(${log.prompt_tokens} + ${log.completion_tokens} × ${completion}) × ${model} × ${group} = ${log.quota}`
}

function Price({ log }: { log: Log }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const total = log.prompt_tokens + log.completion_tokens
  const formula = formulaOf(log)
  const tokens = (count: number) => t('log.peek.tokens', { count: formatCount(count) })
  return (
    <section aria-label={t('log.peek.price')} className="rounded-lg border border-line p-3">
      <dl className="grid grid-cols-[1fr_auto] gap-y-1.5 text-sm">
        <Fact name={t('log.peek.prompt')}>{tokens(log.prompt_tokens)}</Fact>
        {log.cached_tokens > 0 && <Fact name={t('log.peek.cached')}>{tokens(log.cached_tokens)}</Fact>}
        <Fact name={t('log.peek.completion')}>{tokens(log.completion_tokens)}</Fact>
        {log.reasoning_tokens > 0 && <Fact name={t('log.peek.reasoning')}>{tokens(log.reasoning_tokens)}</Fact>}
        <dt className="border-t border-line pt-1.5 font-medium">{t('log.peek.charged')}</dt>
        <dd className="num border-t border-line pt-1.5 text-end font-medium">
          {formatQuota(log.quota, 6)} · {formatCount(log.quota)}
        </dd>
        {total > 0 && <Fact name={t('log.peek.perThousand')}>{formatQuota((log.quota / total) * 1000, 6)}</Fact>}
      </dl>
      {formula && <p className="num mt-2 text-sm break-words">{formula}</p>}
      <p className="mt-2 text-sm break-words text-muted">{log.content}</p>
      {log.estimated && (
        <div className="mt-2">
          <Banner kind="warn">{t('log.peek.estimated')}</Banner>
        </div>
      )}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="num min-w-0 text-end break-words">{children}</dd>
    </>
  )
}

function outcomeKey(outcome: string) {
  if (outcome === 'aborted') return 'log.peek.outcome.aborted'
  return outcome === 'interrupted' ? 'log.peek.outcome.interrupted' : 'log.peek.outcome.complete'
}

function Facts({ log, everybody }: { log: Log; everybody: boolean }) {
  const t = useText()
  const ms = (value: number) => t('log.ms', { value: formatCount(value) })
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('log.time')}>{formatTime(log.created_at)}</Fact>
        {log.username && <Fact name={t('log.user')}>{log.username}</Fact>}
        {log.token_name && <Fact name={t('log.token')}>{log.token_name}</Fact>}
        {log.outcome && <Fact name={t('log.peek.outcome')}>{t(outcomeKey(log.outcome))}</Fact>}
        {log.elapsed_time > 0 && <Fact name={t('log.duration')}>{ms(log.elapsed_time)}</Fact>}
        {log.first_byte_time > 0 && <Fact name={t('log.firstByte')}>{ms(log.first_byte_time)}</Fact>}
        {log.type === logType.consume && (
          <Fact name={t('log.peek.stream')}>{t(log.is_stream ? 'log.peek.yes' : 'log.peek.no')}</Fact>
        )}
        {everybody && log.channel > 0 && (
          <Fact name={t('log.channel')}>
            <Served channel={log.channel} />
          </Fact>
        )}
        {everybody && log.attempts && <Fact name={t('log.peek.attempts')}>{log.attempts}</Fact>}
      </dl>
      {log.type !== logType.consume && <p className="text-sm break-words">{log.content}</p>}
      {log.request_id && (
        <div className="flex flex-col gap-1">
          <p className="text-sm text-muted">{t('log.peek.request')}</p>
          <CopyField label={t('log.peek.request')} value={log.request_id} />
        </div>
      )}
    </>
  )
}

/** The channel by its name, with the way to it; its number alone when it is gone. */
function Served({ channel }: { channel: number }) {
  const { data: name } = useQuery(channelNameQuery(channel))
  if (!name) return `#${channel}`
  return (
    <>
      <Link to="/channel/edit/$id" params={{ id: String(channel) }} className="text-link hover:underline">
        {name}
      </Link>{' '}
      <span className="text-muted">#{channel}</span>
    </>
  )
}

function Similar(props: { log: Log; everybody: boolean; onSearch(change: Partial<LogSearch>): void }) {
  const { log, everybody, onSearch } = props
  const t = useText()
  return (
    <div className="flex flex-wrap gap-2">
      {log.token_name && (
        <Button size="small" onClick={() => onSearch({ token: log.token_name })}>
          {t('log.peek.sameToken')}
        </Button>
      )}
      {log.model_name && (
        <Button size="small" onClick={() => onSearch({ model: log.model_name })}>
          {t('log.peek.sameModel')}
        </Button>
      )}
      {everybody && log.username && (
        <Button size="small" onClick={() => onSearch({ user: log.username })}>
          {t('log.peek.sameUser')}
        </Button>
      )}
      <Button
        size="small"
        onClick={() =>
          onSearch({ from: String(log.created_at - aroundSeconds), to: String(log.created_at + aroundSeconds) })
        }
      >
        {t('log.peek.around')}
      </Button>
    </div>
  )
}
