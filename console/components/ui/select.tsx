import { ChevronDown } from 'lucide-react'
import { type ComponentProps, type KeyboardEvent, type MouseEvent, useRef, useState } from 'react'
import { importPart } from '../../lib/chunk.ts'
import { inputClass } from './input.tsx'
import { lazyPart } from './on-demand.tsx'
import type { SelectPopupProps } from './select-popup.tsx'

const part = lazyPart<SelectPopupProps>(async () => (await importPart(() => import('./select-popup.tsx'))).SelectPopup)

/** True on touch screens, where the list of the operating system is easier to use. */
const isTouch = () => window.matchMedia('(pointer: coarse)').matches

/** Keys that open the list of a select box. */
const openingKeys = new Set([' ', 'Enter', 'ArrowDown', 'ArrowUp', 'F4'])

/** A press within this time after the list was closed belongs to the same click, and must not open the list again. */
const sameClickMs = 300

/**
 * A select box. The box is the browser's own control, so labels, forms and typed letters work as usual. With a mouse or
 * keyboard, its options appear in the console's own list, which is loaded when the box is first used.
 */
export function Select({ className = '', ...rest }: ComponentProps<'select'>) {
  const [open, setOpen] = useState<HTMLSelectElement>()
  const closedAt = useRef(Number.NEGATIVE_INFINITY)
  const Popup = part.component()
  const near = () => {
    // If loading fails, the browser's own list is shown.
    if (!isTouch()) void part.load().catch(() => undefined)
  }
  const show = (event: MouseEvent<HTMLSelectElement> | KeyboardEvent<HTMLSelectElement>) => {
    if (!part.component() || isTouch() || event.currentTarget.disabled) return
    event.preventDefault()
    event.currentTarget.focus()
    if (performance.now() - closedAt.current > sameClickMs || event.type === 'keydown') setOpen(event.currentTarget)
  }
  return (
    <span className="relative grid max-w-full min-w-0">
      <select
        {...rest}
        className={`${inputClass} appearance-none pr-8! ${className}`}
        onPointerEnter={near}
        onFocus={(event) => {
          near()
          rest.onFocus?.(event)
        }}
        onMouseDown={(event) => event.button === 0 && show(event)}
        onKeyDown={(event) => {
          if (openingKeys.has(event.key) && !event.ctrlKey && !event.metaKey) show(event)
        }}
      />
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute end-2.5 top-1/2 size-4 -translate-y-1/2 text-muted"
      />
      {open && Popup && (
        <Popup
          box={open}
          onClose={(isPress) => {
            if (isPress) closedAt.current = performance.now()
            setOpen(undefined)
          }}
        />
      )}
    </span>
  )
}
