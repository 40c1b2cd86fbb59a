import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Drawer, type DrawerSteps } from '../../components/ui/drawer.tsx'
import { DetailsSkeleton, EmptyState, ErrorState } from '../../components/ui/states.tsx'
import { formatCount, formatTime, useFormatQuota } from '../../lib/format.ts'
import { rowIdOf } from '../../lib/log-row.ts'
import { useText } from '../../lib/text.ts'
import { Attempts, ChannelLink } from './attempts.tsx'
import { LogTypeLabel } from './log-parts.tsx'
import { outcomeOf } from './outcome.tsx'
import { requestQuery, rowQuery } from './queries.ts'
import type { LogSearch } from './search.ts'

const aroundSeconds = 300

interface LogPeekProps {
  /** The row's id, as in the URL. */
  id: string
  /** The row, if it is on the current page of the list; otherwise undefined. */
  log: Log | undefined
  /** Whether the page's rows have loaded. Only then is it known whether this row is among them. */
  listed: boolean
  steps: DrawerSteps | undefined
  everybody: boolean
  onClose(): void
  onSearch(change: Partial<LogSearch>): void
}

/** The drawer of a log row: how its price was computed, and links to similar rows. */
export function LogPeek({ id, log: found, listed, steps, everybody, onClose, onSearch }: LogPeekProps) {
  const t = useText()
  // New rows may push this row off the page, but the drawer keeps it while the user reads.
  const [last, setLast] = useState(found)
  if (found && found !== last) setLast(found)
  const kept = found ?? (last && rowIdOf(last) === id ? last : undefined)
  // A link to a row works even if the row has moved to a later page.
  const asked = useQuery({ ...rowQuery(id, everybody), enabled: listed && !kept })
  const log = kept ?? asked.data ?? undefined
  const isGone = asked.data === null
  return (
    <LogDrawer log={log} steps={steps} onClose={onClose}>
      {log && <Details log={log} everybody={everybody} onSearch={onSearch} />}
      {!log && isGone && <EmptyState title={t('log.peek.gone')} text={t('log.peek.gone.text')} />}
      {!log && asked.error && (
        <ErrorState title={t('log.peek.failed')} text={asked.error.message} onRetry={() => void asked.refetch()} />
      )}
      {!log && !isGone && !asked.error && <DetailsSkeleton />}
    </LogDrawer>
  )
}

interface RequestPeekProps extends Pick<LogPeekProps, 'everybody' | 'onClose' | 'onSearch'> {
  request: string
}

/** The drawer of a request's row, wherever in the log the row is. */
export function RequestPeek({ request, everybody, onClose, onSearch }: RequestPeekProps) {
  const t = useText()
  const { data: log, error, refetch } = useQuery(requestQuery(request, everybody))
  const standsIn = log && log.request_id !== request
  return (
    <LogDrawer log={log ?? undefined} onClose={onClose}>
      {standsIn && <Banner kind="info">{t('log.request.leftOut', { count: log.left_out })}</Banner>}
      {log && <Details log={log} everybody={everybody} onSearch={onSearch} />}
      <div role="status">
        {log === null && <EmptyState title={t('log.request.none')} text={t('log.request.none.text')} />}
      </div>
      {error && log === undefined && (
        <ErrorState title={t('log.request.failed')} text={error.message} onRetry={() => void refetch()} />
      )}
      {log === undefined && !error && <DetailsSkeleton />}
    </LogDrawer>
  )
}

interface LogDrawerProps {
  log: Log | undefined
  steps?: DrawerSteps | undefined
  onClose(): void
  children: ReactNode
}

function LogDrawer({ log, steps, onClose, children }: LogDrawerProps) {
  const t = useText()
  return (
    <Drawer
      open
      onClose={onClose}
      steps={steps}
      title={log?.model_name || t('log.peek.title')}
      aside={log && <LogTypeLabel type={log.type} />}
    >
      {children}
    </Drawer>
  )
}

function Details({ log, everybody, onSearch }: Pick<LogPeekProps, 'everybody' | 'onSearch'> & { log: Log }) {
  return (
    <>
      {log.type === logType.consume && <Price log={log} />}
      {log.type === logType.error && <Failure log={log} everybody={everybody} />}
      <Facts log={log} everybody={everybody} />
      <Similar log={log} everybody={everybody} onSearch={onSearch} />
    </>
  )
}

/** Why a call failed: the message that was sent to the caller and, for administrators, the upstream's message. */
function Failure({ log, everybody }: { log: Log; everybody: boolean }) {
  const t = useText()
  return (
    <section aria-label={t('log.peek.failure')} className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <p className="text-sm break-words first-letter:uppercase">{log.content}</p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('log.peek.code')}>
          <span data-verbatim>{log.code}</span>
        </Fact>
        <Fact name={t('log.peek.status')}>{log.status}</Fact>
        {log.endpoint && (
          <Fact name={t('log.peek.endpoint')}>
            <span data-verbatim>{log.endpoint}</span>
          </Fact>
        )}
      </dl>
      {everybody && log.upstream_message && (
        <div className="text-sm">
          <h3 className="text-muted">{t('log.peek.upstream')}</h3>
          <p className="break-words" data-verbatim>
            {log.upstream_message}
          </p>
        </div>
      )}
      {log.left_out > 0 && <Banner kind="info">{t('log.peek.leftOut', { count: log.left_out })}</Banner>}
    </section>
  )
}

const ratios = /([\d.]+) × ([\d.]+) × ([\d.]+)/

/**
 * The formula that computes the charge from tokens and ratios; undefined if the formula does not explain the whole
 * charge.
 */
function formulaOf(log: Log): string | undefined {
  const match = ratios.exec(log.content)
  if (!match) return undefined
  const [, model = '', completion = '', group = ''] = match
  const exact = (log.prompt_tokens + log.completion_tokens * Number(completion)) * Number(model) * Number(group)
  // The charge is rounded up only once. The formula does not match if other token classes with their own prices are
  // included.
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

function Facts({ log, everybody }: { log: Log; everybody: boolean }) {
  const t = useText()
  const ms = (value: number) => t('log.ms', { value: formatCount(value) })
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        <Fact name={t('log.time')}>{formatTime(log.created_at)}</Fact>
        {log.username && (
          <Fact name={t('log.user')}>
            <UserOf log={log} linked={everybody} />
          </Fact>
        )}
        {log.token_name && <Fact name={t('log.token')}>{log.token_name}</Fact>}
        {log.asked_model && <Fact name={t('log.peek.askedModel')}>{log.asked_model}</Fact>}
        {log.outcome && <Fact name={t('log.outcome')}>{outcomeOf(log, t).text}</Fact>}
        {log.elapsed_time > 0 && <Fact name={t('log.duration')}>{ms(log.elapsed_time)}</Fact>}
        {log.first_byte_time > 0 && <Fact name={t('log.firstByte')}>{ms(log.first_byte_time)}</Fact>}
        {log.type === logType.consume && (
          <Fact name={t('log.peek.stream')}>{t(log.is_stream ? 'log.peek.yes' : 'log.peek.no')}</Fact>
        )}
        {everybody && log.channel > 0 && (
          <Fact name={t('log.channel')}>
            <ChannelLink channel={log.channel} />
          </Fact>
        )}
        {everybody && typeof log.kept_place === 'boolean' && (
          <Fact name={t('log.peek.place')}>{t(log.kept_place ? 'log.peek.yes' : 'log.peek.no')}</Fact>
        )}
      </dl>
      {everybody && log.attempts && <Attempts text={log.attempts} />}
      {log.type !== logType.consume && log.type !== logType.error && (
        <p className="text-sm break-words">{log.content}</p>
      )}
      {log.request_id && (
        <div className="flex flex-col gap-1">
          <p className="text-sm text-muted">{t('log.peek.request')}</p>
          <CopyField label={t('log.peek.request')} value={log.request_id} />
          <Link to="/log/$id" params={{ id: log.request_id }} className="self-start text-sm text-link hover:underline">
            {t('log.inspect.open')}
          </Link>
        </div>
      )}
    </>
  )
}

/** The user of the row. Administrators see a link to the account, if the server reports the user's id. */
function UserOf({ log, linked }: { log: Log; linked: boolean }) {
  if (!linked || !log.user_id) return log.username
  return (
    <Link to="/user" search={{ peek: String(log.user_id) }} className="text-link hover:underline">
      {log.username}
    </Link>
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
