import { CSPProvider } from '@base-ui/react/csp-provider'
import { Select as Base } from '@base-ui/react/select'
import { Check } from 'lucide-react'
import { useState } from 'react'

export interface SelectPopupProps {
  /** The box whose options are shown. */
  box: HTMLSelectElement
  /** `isPress` is true if the list was closed by a press outside of it, possibly on the box. */
  onClose(isPress: boolean): void
}

const itemClass =
  'grid min-h-8 cursor-default grid-cols-[1rem_1fr] items-center gap-2 rounded-md px-2 text-sm outline-none select-none data-highlighted:bg-active data-disabled:opacity-50'

/**
 * The name of the box. If a label surrounds the box, its text includes the options, so only the label's own text is
 * used.
 */
function nameOf(box: HTMLSelectElement): string {
  if (box.ariaLabel !== null) return box.ariaLabel
  const texts = [...box.labels].flatMap((label) => [...label.childNodes].filter((node) => !node.contains(box)))
  return texts.map((node) => node.textContent).join(' ')
}

/**
 * The list of a select box's options. It starts open. A choice changes the box as if the user had changed it directly.
 */
export function SelectPopup({ box, onClose }: SelectPopupProps) {
  const [options] = useState(() =>
    [...box.options].map(({ value, label, disabled }) => ({ value, label, isDisabled: disabled })),
  )
  const choose = (value: string) => {
    if (value === box.value) return
    box.value = value
    box.dispatchEvent(new Event('change', { bubbles: true }))
  }
  return (
    // Without this, the list would add a style element, which the page's content security policy forbids.
    <CSPProvider disableStyleElements>
      <Base.Root
        open
        // Modal, so that a press outside the list only closes it, as with the browser's own list. If the list were not
        // modal, its focus guards would be focusable elements that screen readers cannot see.
        modal
        value={box.value}
        onValueChange={(value) => choose(value ?? '')}
        onOpenChange={(next, { reason }) => !next && onClose(reason === 'outside-press' || reason === 'focus-out')}
      >
        {/* Placed inside the box's landmark or dialog, so that users who navigate by landmarks find it. */}
        <Base.Portal container={box.closest('main') ?? undefined}>
          <Base.Positioner
            anchor={box}
            alignItemWithTrigger={false}
            align="start"
            sideOffset={4}
            className="z-50 outline-none"
          >
            <Base.Popup
              finalFocus={() => box}
              className="ui-popup max-h-[min(var(--available-height),22rem)] max-w-[min(24rem,calc(100vw-1rem))] min-w-(--anchor-width) overflow-y-auto overscroll-contain p-1"
            >
              <Base.List aria-label={nameOf(box)}>
                {options.map(({ value, label, isDisabled }) => (
                  <Base.Item key={value} value={value} disabled={isDisabled} className={itemClass}>
                    <Base.ItemIndicator className="col-start-1">
                      <Check className="size-4" />
                    </Base.ItemIndicator>
                    <Base.ItemText className="col-start-2 min-w-0 break-words">{label}</Base.ItemText>
                  </Base.Item>
                ))}
              </Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </CSPProvider>
  )
}
