import type { ComponentProps, ReactNode } from 'react'
import { inertButton } from './inert.ts'
import { Spinner } from './spinner.tsx'

/** Styles of icon-only buttons. */
const iconButtonClass =
  'inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted transition-colors not-aria-disabled:hover:bg-active not-aria-disabled:hover:text-fg data-[popup-open]:bg-active data-[popup-open]:text-fg aria-disabled:opacity-45 max-sm:size-10 [&_svg]:size-4'

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  /** What the button does; also shown on hover. */
  label: string
  icon: ReactNode
  busy?: boolean
}

/**
 * A button that shows only an icon. Its label is shown on hover and read by screen readers. A disabled button ignores
 * clicks but keeps the focus.
 */
export function IconButton({ label, icon, busy = false, className = '', disabled, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      {...((disabled || busy) && inertButton)}
      aria-label={label}
      aria-busy={busy || undefined}
      className={`${iconButtonClass} ${className}`}
    >
      {busy ? <Spinner /> : icon}
    </button>
  )
}
