import { useEffect, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { SwitchRow } from '../../components/ui/switch-row.tsx'
import { useCommands } from '../../lib/commands.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useClassicServer } from '../../lib/status.ts'
import { text, useText } from '../../lib/text.ts'
import { allLogs, type LogFilter, ownLogs, tailAddress } from './queries.ts'

/** Rows that arrive within this time of each other are shown together. */
const gatherMs = 500

/** Polling interval for a server that has no stream of new rows. */
const pollMs = 3000

async function refreshLogs(everybody: boolean): Promise<void> {
  await Promise.all([(everybody ? allLogs : ownLogs).refresh(), queryClient.invalidateQueries({ queryKey: ['log'] })])
}

/** Shows new rows as they are written, while live mode is on and the page is visible. */
export function Tail({ filter, everybody }: { filter: LogFilter; everybody: boolean }) {
  const t = useText()
  const [on, setOn] = useState(false)
  const [fresh, setFresh] = useState(0)
  const [lost, setLost] = useState(false)
  const [connected, setConnected] = useState(false)
  const address = tailAddress(filter, everybody)
  const classic = useClassicServer()
  useEffect(() => {
    if (!on || !classic) return
    const timer = setInterval(() => void refreshLogs(everybody), pollMs)
    return () => clearInterval(timer)
  }, [on, classic, everybody])
  useEffect(() => {
    if (!on || classic) return
    const events = new EventSource(address)
    let waiting: ReturnType<typeof setTimeout> | undefined
    events.onopen = () => {
      setLost(false)
      setConnected(true)
      // Loads rows that were written while the connection was being established.
      void refreshLogs(everybody)
    }
    events.onerror = () => setLost(true)
    // With this event, the server reports that this user is no longer allowed to read rows.
    events.addEventListener('end', () => {
      events.close()
      setOn(false)
    })
    events.onmessage = () => {
      setFresh((count) => count + 1)
      waiting ??= setTimeout(() => {
        waiting = undefined
        void refreshLogs(everybody)
      }, gatherMs)
    }
    return () => {
      clearTimeout(waiting)
      events.close()
      setConnected(false)
    }
  }, [on, classic, address, everybody])
  const turn = (next: boolean) => {
    setOn(next)
    setFresh(0)
    setLost(false)
  }
  useCommands(() => [
    {
      id: 'live-rows',
      group: text('palette.actions'),
      label: text(on ? 'palette.liveOff' : 'palette.liveOn'),
      run: () => turn(!on),
    },
  ])
  const waits = connected || classic ? t('log.tail.on') : ''
  return (
    <div className="flex flex-wrap items-center gap-3">
      <SwitchRow label={t('log.tail')}>
        {(ids) => <Switch {...ids} checked={on} onChange={(event) => turn(event.target.checked)} />}
      </SwitchRow>
      <p role="status" className="text-sm text-muted">
        {on && (lost ? t('log.tail.lost') : fresh > 0 ? t('log.tail.count', { count: fresh }) : waits)}
      </p>
      {on && fresh > 0 && (
        <Button size="small" look="quiet" onClick={() => setFresh(0)}>
          {t('do.clear')}
        </Button>
      )}
    </div>
  )
}
