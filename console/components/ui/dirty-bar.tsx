import { useState } from 'react'
import { useText } from '../../lib/text.ts'
import { useFocusLeft } from '../../lib/use-focus-left.ts'
import { Button } from './button.tsx'

/** One unsaved change. */
export interface Change {
  id: string
  label: string
  before: string
  after: string
  /** The result of saving the change. */
  state?: 'saved' | 'failed'
  /** Why saving failed. */
  problem?: string
}

/**
 * A bar at the bottom of a page with unsaved changes: their number, a list of them, and buttons to discard or save
 * them. The area `form` must be loaded.
 */
export function DirtyBar(props: { changes: readonly Change[]; busy: boolean; onDiscard(): void; onSave(): void }) {
  const { changes, busy, onDiscard, onSave } = props
  const t = useText()
  const [open, setOpen] = useState(false)
  const bar = useFocusLeft<HTMLElement>()
  if (changes.length === 0) return null
  return (
    <section
      ref={bar}
      aria-label={t('form.dirty', { count: changes.length })}
      data-at-end
      className="sticky bottom-3 z-20 mx-auto mt-4 w-fit max-w-full rounded-lg bg-raised p-1.5 shadow-overlay"
    >
      {open && (
        <dl className="max-h-64 max-w-xl divide-y divide-line overflow-y-auto px-2 pb-2 text-sm">
          {changes.map((change) => (
            <div key={change.id} className="py-1.5">
              <dt className="flex items-baseline justify-between gap-4 font-medium">
                {change.label}
                {change.state && (
                  <span className={`text-xs ${change.state === 'saved' ? 'text-good' : 'text-bad'}`}>
                    {t(change.state === 'saved' ? 'form.dirty.saved' : 'form.dirty.failed')}
                  </span>
                )}
              </dt>
              {change.problem !== undefined && <dd className="text-xs text-bad">{change.problem}</dd>}
              <dd className="font-mono text-xs break-all whitespace-pre-wrap">
                <del className="text-bad">{change.before || '""'}</del>{' '}
                <ins className="text-good no-underline">{change.after || '""'}</ins>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <div className="flex flex-wrap items-center gap-1">
        <p role="status" className="num px-2 text-sm font-medium">
          {t('form.dirty', { count: changes.length })}
        </p>
        <Button size="small" look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('form.dirty.review')}
        </Button>
        <Button size="small" look="quiet" onClick={onDiscard} disabled={busy}>
          {t('form.dirty.discard')}
        </Button>
        <Button size="small" look="primary" onClick={onSave} busy={busy}>
          {t('form.dirty.save')}
        </Button>
      </div>
    </section>
  )
}
