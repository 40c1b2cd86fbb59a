import { X } from 'lucide-react'
import { type ComponentType, type KeyboardEvent, type ReactNode, useRef } from 'react'
import { useText } from '../../lib/text.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { type LazyPart, OnDemand, type Trigger } from '../ui/on-demand.tsx'

interface FacetButtonProps<P> {
  label: string
  /** A description of what the facet selects; undefined if it selects everything. */
  text: string | undefined
  onClear(): void
  part: LazyPart<P>
  /** Renders the panel with its button. */
  children(Part: ComponentType<P>, trigger: Trigger): ReactNode
}

/**
 * The button of a filter with several values. It shows what the filter selects, and opens a panel. Backspace, or the
 * button beside it, removes the filter.
 */
export function FacetButton<P>({ label, text, onClear, part, children }: FacetButtonProps<P>) {
  const t = useText()
  const box = useRef<HTMLSpanElement>(null)
  const isOn = text !== undefined
  const clear = () => {
    // The button that removes the filter disappears, so the focus moves first.
    box.current?.querySelector('button')?.focus()
    onClear()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOn || (event.key !== 'Backspace' && event.key !== 'Delete')) return
    event.preventDefault()
    clear()
  }
  const trigger = (
    <button
      type="button"
      onKeyDown={onKeyDown}
      className={`inline-flex h-8 max-w-full min-w-0 items-center gap-1.5 rounded-md border px-2 text-sm select-none hover:bg-hover max-sm:h-10 max-sm:w-full [&_svg]:size-4 [&_svg]:shrink-0 ${
        isOn ? 'border-accent bg-tint pe-8 font-medium' : 'border-dashed border-control bg-surface text-muted'
      }`}
    >
      <span className="max-w-72 truncate">{text ?? label}</span>
    </button>
  )
  return (
    <span ref={box} className="relative inline-flex max-w-full min-w-0 max-sm:w-full">
      <OnDemand part={part} trigger={trigger} popup="dialog">
        {(Part) => children(Part, trigger)}
      </OnDemand>
      {isOn && (
        <IconButton
          label={t('table.facet.remove', { label })}
          icon={<X />}
          onClick={clear}
          className="absolute end-0.5 top-1/2 size-7! -translate-y-1/2"
        />
      )}
    </span>
  )
}
