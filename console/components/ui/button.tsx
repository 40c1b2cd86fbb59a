import type { ComponentProps, ReactNode } from 'react'
import { inertButton } from './inert.ts'
import { Spinner } from './spinner.tsx'

const common =
  'inline-flex max-w-full shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none max-sm:whitespace-normal transition-colors aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0'
const looks = {
  primary: 'bg-accent text-on-accent shadow-control not-aria-disabled:hover:bg-accent-hover',
  plain:
    'border border-edge bg-surface text-fg shadow-control not-aria-disabled:hover:bg-hover data-[popup-open]:bg-hover',
  quiet: 'text-muted not-aria-disabled:hover:bg-hover not-aria-disabled:hover:text-fg data-[popup-open]:bg-hover',
  danger: 'bg-bad-fill text-on-accent shadow-control not-aria-disabled:hover:bg-bad-hover',
}
const sizes = {
  normal: 'h-8 px-3 text-sm max-sm:h-auto max-sm:min-h-10 max-sm:py-1 max-sm:text-base',
  small: 'h-7 px-2 text-sm max-sm:h-auto max-sm:min-h-9 max-sm:py-1',
  large: 'h-9 px-4 text-base max-sm:h-auto max-sm:min-h-11 max-sm:py-1',
}

interface Style {
  look?: keyof typeof looks | undefined
  size?: keyof typeof sizes | undefined
}

/** Styles of buttons, and of links that look like buttons. */
export function buttonClass({
  look = 'plain',
  size = 'normal',
  className,
}: Style & { className?: string | undefined } = {}) {
  return [common, looks[look], sizes[size], className].filter(Boolean).join(' ')
}

export interface ButtonProps extends ComponentProps<'button'>, Style {
  /** Work is in progress. The button shows this and ignores clicks. */
  busy?: boolean | undefined
  icon?: ReactNode
}

/** A button; `type` is "button" unless given. A disabled button ignores clicks but keeps the focus. */
export function Button({ look, size, busy = false, icon, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      {...((disabled || busy) && inertButton)}
      className={buttonClass({ look, size, className })}
      aria-busy={busy || undefined}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  )
}
