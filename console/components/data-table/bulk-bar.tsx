import { X } from 'lucide-react'
import { Suspense, useState } from 'react'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import { useFocusLeft } from '../../lib/use-focus-left.ts'
import { Button } from '../ui/button.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { runBulk } from './run-bulk.ts'
import type { BulkAction } from './types.ts'

const ConfirmDialog = lazy(() => import('../ui/confirm-dialog.tsx').then((it) => ({ default: it.ConfirmDialog })))

interface BulkBarProps<Row> {
  rows: readonly Row[]
  actions: readonly BulkAction<Row>[]
  onClear(): void
  /** Called after an action, in order to reload the list. */
  onDone(): void
  onExport(rows: readonly Row[]): void
}

/** The actions for the selected rows, at the bottom of the page. Shown while any rows are selected. */
export function BulkBar<Row>({ rows, actions, onClear, onDone, onExport }: BulkBarProps<Row>) {
  const t = useText()
  const [asking, setAsking] = useState<BulkAction<Row>>()
  const [busy, setBusy] = useState(false)
  const bar = useFocusLeft<HTMLElement>('[data-list]')
  const fitting = (action: BulkAction<Row>) => rows.filter((row) => action.applies?.(row) ?? true)
  const run = async (action: BulkAction<Row>) => {
    setBusy(true)
    const result = await runBulk(action.label, fitting(action), (row) => action.run(row))
    setBusy(false)
    onDone()
    if (result.failed.length === 0) onClear()
  }
  const begin = (action: BulkAction<Row>) => {
    if (action.open) action.open(fitting(action))
    else if (action.confirm) setAsking(action)
    else void run(action)
  }
  const question = asking?.confirm?.(fitting(asking))
  return (
    <section
      ref={bar}
      aria-label={t('table.selected', { count: rows.length })}
      data-at-end
      className="sticky bottom-3 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-1 rounded-lg bg-raised p-1.5 shadow-overlay"
    >
      <p role="status" className="num px-2 text-sm font-medium">
        {t('table.selected', { count: rows.length })}
      </p>
      {actions.map((action) => (
        <Button
          key={action.id}
          size="small"
          look="quiet"
          icon={action.icon}
          disabled={busy || fitting(action).length === 0}
          className={action.danger ? 'text-bad!' : ''}
          onClick={() => begin(action)}
        >
          {action.label}
        </Button>
      ))}
      <Button size="small" look="quiet" onClick={() => onExport(rows)}>
        {t('table.selected.export')}
      </Button>
      <IconButton label={t('table.selected.clear')} icon={<X />} onClick={onClear} />
      {asking && question && (
        <Suspense fallback={null}>
          <ConfirmDialog
            open
            {...question}
            confirm={asking.label}
            danger={asking.danger ?? false}
            onClose={() => setAsking(undefined)}
            onConfirm={() => {
              // The dialog closes without waiting for the action, because a toast shows the progress.
              void run(asking)
              return undefined
            }}
          />
        </Suspense>
      )}
    </section>
  )
}
