import type { ReactNode } from 'react'
import type { DotColor } from '../../lib/dot-color.ts'

export type { DotColor }

/** Classes that give a small mark its colour. */
export const dotMark: Readonly<Record<DotColor, string>> = {
  green: 'bg-green',
  olive: 'bg-olive',
  yellow: 'bg-yellow',
  orange: 'bg-orange',
  red: 'bg-red',
  purple: 'bg-purple',
  grey: 'bg-grey',
  accent: 'bg-accent',
}

/** A status, shown as a dot and a word, never as colour alone. */
export function Status({ color, children, title }: { color: DotColor; children: ReactNode; title?: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" title={title} data-color={color}>
      <span className={`size-1.5 shrink-0 rounded-full ${dotMark[color]}`} aria-hidden="true" />
      {children}
    </span>
  )
}

/**
 * Reserves the width of the longest text, so that a column does not grow with later content. The text that reserves the
 * width is neither visible nor announced.
 */
export function Room({ texts, children }: { texts: readonly string[]; children: ReactNode }) {
  const longest = texts.reduce((long, text) => (text.length > long.length ? text : long), '')
  return (
    <span
      data-room={longest}
      className="inline-block before:invisible before:block before:h-0 before:overflow-hidden before:pe-4 before:whitespace-nowrap before:content-[attr(data-room)]"
    >
      {children}
    </span>
  )
}

interface BadgeProps {
  color?: DotColor
  /** Shown instead of the dot, such as a provider's mark. */
  mark?: ReactNode
  children: ReactNode
  title?: string
}

/** A small label, such as a group or a type. Without a colour, it has no dot. */
export function Badge({ color, mark, children, title }: BadgeProps) {
  return (
    <span
      className="inline-flex h-5 max-w-full items-center gap-1.5 rounded-sm border border-line bg-sunken px-1.5 text-xs font-medium text-fg"
      title={title}
      data-color={color}
    >
      {mark ?? (color && <span className={`size-1.5 shrink-0 rounded-full ${dotMark[color]}`} aria-hidden="true" />)}
      <span className="truncate">{children}</span>
    </span>
  )
}
