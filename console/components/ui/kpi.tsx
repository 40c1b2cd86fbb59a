import type { ReactNode } from 'react'

/** One figure with its name. `note` says what the figure is compared with. */
export function Kpi(props: {
  label: string
  value: ReactNode
  note?: ReactNode
  loading?: boolean
  /** For narrow cards: a long figure is made smaller, so that it stays on one line. */
  narrow?: boolean
  children?: ReactNode
}) {
  const isLong = props.narrow && typeof props.value === 'string' && props.value.length > 8
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <p className="truncate text-sm text-muted first-letter:uppercase">{props.label}</p>
      <p
        className={`num mt-0.5 font-semibold tracking-[-0.02em] break-words ${isLong ? 'text-lg leading-8' : 'text-2xl max-sm:text-xl'}`}
      >
        {props.loading ? <span className="skeleton inline-block h-6 w-24 align-middle" /> : props.value}
      </p>
      {props.note !== undefined && <p className="mt-0.5 text-xs text-muted">{props.note}</p>}
      {props.children}
    </div>
  )
}
