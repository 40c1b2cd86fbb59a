import { Popover as Base } from '@base-ui/react/popover'
import type { ReactNode } from 'react'
import type { Trigger } from './on-demand.tsx'

export interface PopoverProps {
  /** The button that opens the panel. */
  trigger: Trigger
  title?: string
  align?: 'start' | 'center' | 'end'
  children: ReactNode
}

/** The panel itself. The component is loaded when a panel is first opened, so it starts open. */
export function PopoverPopup({ trigger, title, align = 'end', children }: PopoverProps) {
  return (
    <Base.Root defaultOpen>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={4} className="z-50 outline-none">
          <Base.Popup className="ui-popup max-w-[min(24rem,calc(100vw-1rem))] p-3 text-sm">
            {title !== undefined && <Base.Title className="mb-2 font-medium">{title}</Base.Title>}
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
