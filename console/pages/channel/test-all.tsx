import { useQuery } from '@tanstack/react-query'
import { Gauge } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { channelApi } from '../../../contract/api/channel.ts'
import type { TestProgress } from '../../../contract/api/channel-operations.ts'
import { Button } from '../../components/ui/button.tsx'
import { call } from '../../lib/call.ts'
import { useCommands } from '../../lib/commands.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useClassicServer } from '../../lib/status.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { progressQuery, refreshChannels } from './queries.ts'

const pollMs = 1000
/** For a server that does not report progress: the interval between reloads of the rows, and the number of reloads. */
const lookMs = 3000
const looks = 20

/**
 * Starts the test of all channels and shows its progress; rows are updated as their tests end. `onFailures` is called
 * after the tests if some of them failed, with the time at which they began (epoch seconds).
 */
export function TestAllButton({ onFailures }: { onFailures(since: number): void }) {
  const t = useText()
  const [starting, setStarting] = useState(false)
  const classic = useClassicServer()
  const look = useLooking()
  const progress = useQuery({
    ...progressQuery,
    enabled: !classic,
    refetchInterval: ({ state }) => (state.data?.running ? pollMs : false),
  })
  const { running = false, done = 0, total = 0 } = progress.data ?? {}
  const expectEnd = useWhileRunning(progress.data, progress.dataUpdatedAt, onFailures)
  const start = async () => {
    setStarting(true)
    try {
      await call(channelApi.testAll, { query: {} })
      toast.info(t('channel.testAll.started'))
      if (classic) look()
      else {
        expectEnd()
        await queryClient.invalidateQueries({ queryKey: progressQuery.queryKey })
      }
    } catch {
      // The call has already shown the error.
    }
    setStarting(false)
  }
  const busy = running || starting
  useCommands(() =>
    busy
      ? []
      : [
          {
            id: 'test-all',
            group: text('palette.actions'),
            label: text('palette.testAll'),
            run: () => void start(),
          },
        ],
  )
  return (
    <Button icon={<Gauge />} busy={busy} onClick={() => void start()}>
      {running ? (
        <span role="status" className="num">
          {t('channel.testAll.progress', { done, total })}
        </span>
      ) : (
        t('channel.testAll')
      )}
    </Button>
  )
}

/** Reloads the rows repeatedly for a while, once started. */
function useLooking(): () => void {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    if (left === 0) return
    const timer = setTimeout(() => {
      void refreshRows()
      setLeft(left - 1)
    }, lookMs)
    return () => clearTimeout(timer)
  }, [left])
  return () => setLeft(looks)
}

/**
 * Reloads the channels whenever tests end, and reports the result after the last test. Call the returned function when
 * tests are started, because they may end before polling has seen them running.
 */
function useWhileRunning(
  progress: TestProgress | undefined,
  updatedAt: number,
  onFailures: (since: number) => void,
): () => void {
  const { running = false, done = 0, total = 0, failed = 0, started_at = 0 } = progress ?? {}
  const expected = useRef(running)
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows change when `done` does
  useEffect(() => {
    if (running) void refreshRows()
  }, [done, running])
  // biome-ignore lint/correctness/useExhaustiveDependencies: two runs may have equal results
  useEffect(() => {
    if (expected.current && !running) {
      void refreshChannels()
      if (failed === 0) toast.success(text('channel.testAll.done', { ok: total, failed }))
      else onFailures(started_at)
    }
    expected.current = running
  }, [running, total, failed, started_at, updatedAt])
  return () => {
    expected.current = true
  }
}

function refreshRows(): Promise<void> {
  return queryClient.invalidateQueries({
    queryKey: ['channel'],
    predicate: ({ queryKey }) => queryKey[1] === 'list' || queryKey[1] === 'watched' || queryKey[1] === 'tests',
  })
}
