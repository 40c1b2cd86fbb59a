import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from './button.tsx'

interface StateProps {
  title: string
  text?: ReactNode
  /** Buttons or links. */
  children?: ReactNode
}

/** An empty state, with one sentence and one thing to do. */
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

/** A grey placeholder; its size must match the content that replaces it. */
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

/** A placeholder in the shape of a bar chart; its size must match the chart that replaces it. */
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
