import { Dialog as Base } from '@base-ui/react/dialog'
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { isTyping } from '../../lib/hotkeys.ts'
import { singleKeysOn } from '../../lib/single-keys.ts'
import { useText } from '../../lib/text.ts'
import { backdropClass } from './dialog.tsx'
import { IconButton } from './icon-button.tsx'

/** Functions that go to the previous and the next item; undefined if there is no such item. */
export interface DrawerSteps {
  previous: (() => void) | undefined
  next: (() => void) | undefined
  /** Position of the item shown, counted from 1; 0 if the item is not on the page. */
  at: number
  count: number
}

interface DrawerProps {
  open: boolean
  onClose(): void
  /** For an item of a list: buttons and the keys k and j go to the neighbouring items. */
  steps?: DrawerSteps | undefined
  title: string
  /** Shown beside the title, such as a status. */
  aside?: ReactNode
  footer?: ReactNode
  children: ReactNode
}

/** A side panel with the details of one item; the list stays behind it. */
export function Drawer({ open, onClose, steps, title, aside, footer, children }: DrawerProps) {
  const t = useText()
  const heading = useRef<HTMLHeadingElement>(null)
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Popup
          initialFocus={heading}
          className="fixed inset-y-0 right-0 z-50 flex w-full max-w-[520px] flex-col border-l border-line bg-surface shadow-overlay outline-none transition-transform duration-150 data-ending-style:translate-x-full data-starting-style:translate-x-full"
          onKeyDown={(event) => steps && step(event, steps)}
        >
          <div className="flex min-h-14 items-center gap-3 border-b border-line px-5 py-2">
            <div
              className={`flex min-w-0 flex-1 gap-x-3 sm:items-center ${steps ? 'max-sm:flex-col' : 'items-center'}`}
            >
              <Base.Title
                ref={heading}
                tabIndex={-1}
                className="min-w-0 truncate rounded-sm text-lg font-semibold outline-none"
              >
                {title}
              </Base.Title>
              {aside}
            </div>
            {steps && <Steps steps={steps} />}
            <IconButton label={t('do.close')} icon={<X />} onClick={onClose} className="-mr-1.5" />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto px-5 py-4">{children}</div>
          {footer !== undefined && (
            <div data-at-end className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** Handles the list's j and k keys, which the list ignores while a panel is open. */
function step(event: KeyboardEvent<HTMLElement>, { previous, next }: DrawerSteps): void {
  const { key, altKey, ctrlKey, metaKey, target } = event
  if (altKey || ctrlKey || metaKey || !singleKeysOn() || isTyping(target)) return
  const go = key === 'j' ? next : key === 'k' ? previous : undefined
  if (!go) return
  event.preventDefault()
  go()
}

function Steps({ steps }: { steps: DrawerSteps }) {
  const t = useText()
  const ways = [
    { label: t('table.peek.previous'), icon: <ChevronUp />, go: steps.previous },
    { label: t('table.peek.next'), icon: <ChevronDown />, go: steps.next },
  ]
  return (
    <>
      <p role="status" className="sr-only">
        {steps.at > 0 && t('table.peek.place', { at: steps.at, count: steps.count })}
      </p>
      {ways.map(({ label, icon, go }) => (
        <IconButton key={label} label={label} icon={icon} disabled={go === undefined} onClick={go} />
      ))}
    </>
  )
}
