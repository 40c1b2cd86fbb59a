import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from './button.tsx'

interface StateProps {
  title: string
  text?: ReactNode
  /** Buttons or links. */
  children?: ReactNode
}

/** An empty state, with one sentence and one action. */
export function EmptyState({ title, text, children }: StateProps) {
  return (
    <div className="flex flex-col items-center gap-1 px-4 py-14 text-center">
      <p className="text-base font-medium">{title}</p>
      {text !== undefined && <p className="max-w-md text-sm text-muted">{text}</p>}
      {children !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  )
}

/** A failure: what failed, the server's message, and a next step. */
export function ErrorState(props: StateProps & { onRetry?: (() => void) | undefined; busy?: boolean | undefined }) {
  const { title, text, onRetry, busy, children } = props
  const t = useText()
  return (
    <div role="alert" className="flex flex-col items-center gap-1 px-4 py-14 text-center">
      <p className="text-base font-medium">{title}</p>
      {text !== undefined && <p className="max-w-md text-sm break-words text-muted">{text}</p>}
      <div className="mt-4 flex flex-wrap justify-center gap-2">
        {onRetry && (
          <Button look="primary" onClick={onRetry} busy={busy}>
            {t('do.retry')}
          </Button>
        )}
        {children}
      </div>
    </div>
  )
}

/** A grey placeholder. Its size must match the content that replaces it. */
export function Skeleton({ className = 'h-4 w-full' }: { className?: string }) {
  return <span className={`skeleton block ${className}`} aria-hidden="true" />
}

const barHeights = [
  'h-2/5',
  'h-3/5',
  'h-1/2',
  'h-4/5',
  'h-2/3',
  'h-full',
  'h-3/4',
  'h-1/2',
  'h-4/5',
  'h-3/5',
  'h-2/3',
  'h-2/5',
]

/** A placeholder in the shape of a bar chart. Its size must match the chart that replaces it. */
export function ChartSkeleton({ className }: { className: string }) {
  return (
    <div
      aria-hidden="true"
      className={`flex items-end gap-[3%] rounded-lg border border-line bg-surface px-4 pt-12 pb-4 ${className}`}
    >
      {barHeights.map((height, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes have no identity
        <Skeleton key={index} className={`flex-1 ${height}`} />
      ))}
    </div>
  )
}

const lineWidths = ['w-2/5', 'w-1/3', 'w-1/2', 'w-1/4', 'w-2/5', 'w-1/3', 'w-3/5', 'w-1/4', 'w-1/2']

/** A placeholder in the shape of a list. Its size must match the list that replaces it. */
export function RowsSkeleton({ className }: { className: string }) {
  return (
    <div
      aria-hidden="true"
      className={`w-full divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface ${className}`}
    >
      {lineWidths.map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes have no identity
        <div key={index} className="flex h-11 items-center justify-between gap-6 px-4">
          <Skeleton className={`h-3.5 ${width}`} />
          <Skeleton className="h-3.5 w-14" />
        </div>
      ))}
    </div>
  )
}

/** A placeholder in the shape of a form. Its size must match the form that replaces it. */
export function FieldsSkeleton({ className }: { className: string }) {
  return (
    <div
      aria-hidden="true"
      className={`flex w-full flex-col gap-5 overflow-hidden rounded-lg border border-line bg-surface p-4 ${className}`}
    >
      {lineWidths.slice(0, 6).map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes have no identity
        <div key={index} className="flex shrink-0 flex-col gap-2">
          <Skeleton className={`h-3.5 max-w-36 ${width}`} />
          <div className="h-8 rounded-md border border-line" />
        </div>
      ))}
    </div>
  )
}

/** A placeholder in the shape of the details in a drawer: two figures, then names and values. */
export function DetailsSkeleton() {
  return (
    <div aria-hidden="true" className="flex flex-col gap-5">
      <div className="grid grid-cols-2 gap-3">
        {['left', 'right'].map((side) => (
          <div key={side} className="flex flex-col gap-2 rounded-lg border border-line px-4 py-3">
            <Skeleton className="h-3.5 w-1/2" />
            <Skeleton className="h-6 w-2/3" />
          </div>
        ))}
      </div>
      {lineWidths.slice(0, 5).map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: shapes have no identity
        <div key={index} className="flex gap-6">
          <Skeleton className="h-3.5 w-24 shrink-0" />
          <Skeleton className={`h-3.5 ${width}`} />
        </div>
      ))}
    </div>
  )
}
