import { useQuery } from '@tanstack/react-query'
import { Ban, CircleCheck, Download, Gauge } from 'lucide-react'
import { useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { channelStatus } from '../../../contract/statuses.ts'
import { runBulk } from '../../components/data-table/run-bulk.ts'
import { Button } from '../../components/ui/button.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { DetailsSkeleton, ErrorState } from '../../components/ui/states.tsx'
import { toCsv } from '../../lib/csv.ts'
import { downloadFile } from '../../lib/download.ts'
import { formatTime } from '../../lib/format.ts'
import { type Text, text, useText } from '../../lib/text.ts'
import { ChannelStatus, nameOf, ResponseTime, secondsOf, statusText, useTypeName } from './channel-parts.tsx'
import { isEnabled, refreshChannels, setChannelStatus, testChannel, testedBadly, watchedQuery } from './queries.ts'
import { type FailureGroup, failureGroups } from './report-groups.ts'

interface ReportProps {
  /** When the tests began, in epoch seconds. */
  since: number
  onClose(): void
  onPeek(id: number): void
}

/** The result of testing all channels: how many passed, and the failed channels grouped by reason. */
export function TestReport({ since, onClose, onPeek }: ReportProps) {
  const t = useText()
  const typeName = useTypeName()
  const { data, error, isPending, isFetching, refetch } = useQuery(watchedQuery)
  const tested = (data ?? []).filter(({ test_time }) => test_time >= since)
  const failed = testedBadly(tested, since)
  const passed = tested.filter(({ test_error }) => !test_error)
  const save = () => downloadFile('channel-tests.csv', asCsv(tested, t, typeName), 'text/csv;charset=utf-8')
  return (
    <Drawer
      open
      onClose={onClose}
      title={t('channel.report')}
      aside={<span className="num text-sm whitespace-nowrap text-muted">{formatTime(since)}</span>}
      footer={
        <Button icon={<Download />} disabled={tested.length === 0} onClick={save}>
          {t('channel.report.export')}
        </Button>
      }
    >
      {isPending && <DetailsSkeleton />}
      {error && (
        <ErrorState title={t('table.error')} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
      )}
      {data && (
        <p role="status" className="text-base font-medium">
          {t('channel.testAll.done', { ok: passed.length, failed: failed.length })}
        </p>
      )}
      {failureGroups(failed).map((group) => (
        <Group key={group.reason} group={group} onPeek={onPeek} />
      ))}
      {passed.length > 0 && (
        <details className="text-sm">
          <summary className="cursor-pointer font-medium">
            {t('channel.report.passed', { count: passed.length })}
          </summary>
          <Channels of={[...passed].sort((a, b) => b.response_time - a.response_time)} onPeek={onPeek} />
        </details>
      )}
    </Drawer>
  )
}

function Group({ group: { reason, channels }, onPeek }: { group: FailureGroup; onPeek(id: number): void }) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const enabled = channels.filter(isEnabled)
  // The channels that this report's buttons have disabled. Only these can be enabled again, not channels that were
  // already disabled.
  const [disabledHere, setDisabledHere] = useState<readonly number[]>([])
  const disabled = channels.filter(({ id, status }) => status === channelStatus.disabled && disabledHere.includes(id))
  const during = async (work: () => Promise<unknown>) => {
    setBusy(true)
    await work().catch(() => undefined)
    setBusy(false)
  }
  const again = () =>
    during(async () => {
      await runBulk(text('channel.report.again'), channels, ({ id }) => testChannel(id, { quiet: true }))
      await refreshChannels()
    })
  const set = (rows: readonly Channel[], status: number) =>
    during(async () => {
      const isOn = status === channelStatus.enabled
      if (!isOn) setDisabledHere(rows.map(({ id }) => id))
      await runBulk(text(isOn ? 'do.enable' : 'do.disable'), rows, (channel) => setChannelStatus(channel, status))
      await refreshChannels()
    })
  return (
    <section aria-label={reason} className="flex flex-col gap-1">
      <h3 className="text-sm font-medium wrap-anywhere">
        <span className="num text-bad">{channels.length} ×</span> {reason}
      </h3>
      <Channels of={channels} onPeek={onPeek} />
      <div className="flex flex-wrap gap-2 pt-1">
        <Button size="small" icon={<Gauge />} busy={busy} onClick={() => void again()}>
          {t('channel.report.again')}
        </Button>
        {enabled.length > 0 && (
          <Button size="small" icon={<Ban />} disabled={busy} onClick={() => void set(enabled, channelStatus.disabled)}>
            {t('channel.report.disable', { count: enabled.length })}
          </Button>
        )}
        {disabled.length > 0 && (
          <Button
            size="small"
            icon={<CircleCheck />}
            disabled={busy}
            onClick={() => void set(disabled, channelStatus.enabled)}
          >
            {t('channel.report.enable', { count: disabled.length })}
          </Button>
        )}
      </div>
    </section>
  )
}

function Channels({ of, onPeek }: { of: readonly Channel[]; onPeek(id: number): void }) {
  const t = useText()
  return (
    <ul className="divide-y divide-line text-sm">
      {of.map((channel) => (
        <li key={channel.id} className="flex items-center gap-3 py-1.5">
          <button
            type="button"
            onClick={() => onPeek(channel.id)}
            className="min-w-0 flex-1 truncate text-start text-link hover:underline"
          >
            {nameOf(channel, t)}
          </button>
          {channel.test_error ? <ChannelStatus channel={channel} /> : <ResponseTime channel={channel} />}
        </li>
      ))}
    </ul>
  )
}

function asCsv(rows: readonly Channel[], t: Text, typeName: (type: number) => string): string {
  const header = ['channel.id', 'channel.name', 'channel.type', 'channel.status', 'channel.responseTime'] as const
  const lines = rows.map((channel) => [
    channel.id,
    nameOf(channel, t),
    typeName(channel.type),
    statusText(channel.status, t),
    channel.test_error ? '' : secondsOf(channel.response_time),
    channel.test_error,
  ])
  return toCsv([...header.map((key) => t(key)), t('channel.report.error')], lines)
}
