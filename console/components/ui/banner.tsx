import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

export type BannerKind = 'info' | 'good' | 'warn' | 'bad'

const looks = {
  info: 'border-line bg-sunken text-fg',
  good: 'border-transparent bg-good-tint text-good',
  warn: 'border-transparent bg-warn-tint text-warn',
  bad: 'border-transparent bg-bad-tint text-bad',
}
const icons = { info: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert }

/** A permanent message on the page. With `live`, it is announced when it appears. */
export function Banner(props: { kind: BannerKind; live?: boolean; title?: string; children?: ReactNode }) {
  const { kind, live = false, title, children } = props
  const Icon = icons[kind]
  return (
    <div
      className={`flex items-start gap-2.5 rounded-md border px-3 py-2 text-sm ${looks[kind]}`}
      role={live ? (kind === 'bad' ? 'alert' : 'status') : undefined}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        {title !== undefined && <p className="font-medium">{title}</p>}
        {children}
      </div>
    </div>
  )
}
