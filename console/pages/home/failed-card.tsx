import { ErrorState } from '../../components/ui/states.tsx'

interface FailedCardProps {
  title: string
  error: Error
  onRetry(): void
  busy: boolean
}

/** Replaces a part of the overview that could not be loaded. */
export function FailedCard({ title, error, onRetry, busy }: FailedCardProps) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <ErrorState title={title} text={error.message} onRetry={onRetry} busy={busy} />
    </div>
  )
}
