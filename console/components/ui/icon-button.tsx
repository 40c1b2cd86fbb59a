import type { ComponentProps, ReactNode } from 'react'
import { Spinner } from './spinner.tsx'

/** Styles of icon-only buttons. */
const iconButtonClass =
  'inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted transition-colors enabled:hover:bg-active enabled:hover:text-fg [a&]:hover:bg-active [a&]:hover:text-fg data-[popup-open]:bg-active data-[popup-open]:text-fg disabled:opacity-45 max-sm:size-10 [&_svg]:size-4'

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  /** What the button does; also shown on hover. */
  label: string
  icon: ReactNode
  busy?: boolean
}

/** A button that shows only an icon. Its label is shown on hover and read by screen readers. */
export function IconButton({ label, icon, busy = false, className = '', disabled, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      className={`${iconButtonClass} ${className}`}
    >
      {busy ? <Spinner /> : icon}
    </button>
  )
}
