import type { Log } from '../../../contract/api/log.ts'
import { logType } from '../../../contract/log-types.ts'
import { Cut } from '../../components/data-table/cut.tsx'
import type { Column } from '../../components/data-table/types.ts'
import { ModelMark } from '../../components/provider-mark.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatCount, formatQuota, formatRelative, formatTime } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'
import { LogTypeLabel, typeText } from './log-parts.tsx'
import { durationText, isCall, Outcome, outcomeOf } from './outcome.tsx'

const logDecimals = 6

interface Shown {
  /** Adds the user and channel columns. */
  everybody: boolean
  /** The server has only one-api's columns. In this case, all of them are shown by default. */
  classic: boolean
}

/** The columns of the list. Users can add one-api's columns that are hidden by default. */
export function logColumns(t: Text, { everybody, classic }: Shown): Column<Log>[] {
  const hidden = !classic
  const count = (id: 'prompt_tokens' | 'completion_tokens', header: string): Column<Log> => ({
    id,
    header,
    cell: (log) => (log[id] === 0 ? '' : formatCount(log[id])),
    value: (log) => log[id],
    sortable: true,
    align: 'end',
    hidden,
    skeleton: 'w-10',
  })
  const name = (id: 'username' | 'token_name' | 'model_name', header: string): Column<Log> => ({
    id,
    header,
    cell: (log) => <Cut text={log[id]} width="max-w-28" />,
    value: (log) => log[id],
    skeleton: 'w-20',
  })
  return [
    {
      id: 'created_at',
      header: t('log.time'),
      cell: (log) => (
        <time title={formatRelative(log.created_at)}>
          <TimeText seconds={log.created_at} />
        </time>
      ),
      value: (log) => formatTime(log.created_at),
      sortable: true,
      required: true,
      card: 'title',
      wraps: true,
    },
    ...(everybody ? [name('username', t('log.user'))] : []),
    name('token_name', t('log.token')),
    {
      id: 'type',
      header: t('log.type'),
      cell: (log) => <LogTypeLabel type={log.type} />,
      value: (log) => typeText(log.type, t),
      card: 'badge',
      hidden,
      skeleton: 'w-20',
    },
    {
      ...name('model_name', t('log.model')),
      cell: ({ model_name }) => (
        <span className="inline-flex items-center gap-1.5">
          {model_name !== '' && <ModelMark model={model_name} />}
          <Cut text={model_name} width="max-w-36" />
        </span>
      ),
    },
    ...(classic ? [] : [tokensColumn(t)]),
    count('prompt_tokens', t('log.prompt')),
    count('completion_tokens', t('log.completion')),
    {
      id: 'quota',
      header: t('log.quota'),
      cell: (log) => (log.quota === 0 ? '' : formatQuota(log.quota, logDecimals)),
      value: (log) => log.quota,
      sortable: true,
      align: 'end',
      skeleton: 'w-16',
    },
    ...(classic ? [] : [...times(t), outcomeColumn(t)]),
    ...(everybody && !classic ? [channelColumn(t)] : []),
    {
      id: 'content',
      header: t('log.detail'),
      cell: (log) => <Cut text={log.content} width="max-sm:max-w-64" />,
      value: (log) => log.content,
      grows: true,
      hidden,
      skeleton: 'w-40',
    },
  ]
}

function tokensColumn(t: Text): Column<Log> {
  return {
    id: 'tokens',
    header: t('log.tokens'),
    cell: (log) =>
      log.prompt_tokens + log.completion_tokens > 0 && (
        <span className="num whitespace-nowrap">
          {formatCount(log.prompt_tokens)} <span className="text-muted">→</span> {formatCount(log.completion_tokens)}
        </span>
      ),
    value: (log) => `${log.prompt_tokens} → ${log.completion_tokens}`,
    align: 'end',
    skeleton: 'w-20',
  }
}

function outcomeColumn(t: Text): Column<Log> {
  return {
    id: 'outcome',
    header: t('log.outcome'),
    cell: (log) => <Result log={log} />,
    value: (log) => (isCall(log) ? outcomeOf(log, t).text : typeText(log.type, t)),
    grows: true,
    skeleton: 'w-32',
  }
}

/** How a call ended, and why it failed. Rows that are not calls show their type and their text instead. */
function Result({ log }: { log: Log }) {
  const isError = log.type === logType.error
  const text = isError || !isCall(log) ? log.content : ''
  return (
    <span className="flex min-w-0 items-center gap-2 max-sm:justify-end">
      {isCall(log) ? <Outcome log={log} /> : <LogTypeLabel type={log.type} />}
      {text && (
        <span className="min-w-0 text-muted">
          <Cut text={text} width="max-sm:max-w-40" />
        </span>
      )}
    </span>
  )
}

function channelColumn(t: Text): Column<Log> {
  return {
    id: 'channel',
    header: t('log.channel'),
    cell: (log) =>
      log.channel > 0 &&
      (log.channel_name ? (
        <Cut text={log.channel_name} width="max-w-24" />
      ) : (
        <span className="num text-muted">#{log.channel}</span>
      )),
    value: (log) => (log.channel > 0 ? log.channel_name || `#${log.channel}` : ''),
    skeleton: 'w-20',
  }
}

function times(t: Text): Column<Log>[] {
  const time = (id: 'elapsed_time' | 'first_byte_time', header: string, hidden: boolean): Column<Log> => ({
    id,
    header,
    cell: (log) => (log[id] > 0 ? <span className="whitespace-nowrap">{durationText(log[id], t)}</span> : ''),
    value: (log) => log[id],
    sortable: true,
    align: 'end',
    hidden,
    skeleton: 'w-12',
  })
  return [time('elapsed_time', t('log.duration'), false), time('first_byte_time', t('log.firstByte'), true)]
}
