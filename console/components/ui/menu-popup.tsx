import { Menu as Base } from '@base-ui/react/menu'
import type { ReactNode } from 'react'
import type { Trigger } from './on-demand.tsx'

export interface MenuEntry {
  id: string
  label: string
  icon?: ReactNode
  /** The entry destroys something. It is red and separated from the others. */
  danger?: boolean
  disabled?: boolean
  /** The reason why the entry is disabled, or other information. */
  hint?: string | undefined
  /** A shortcut, shown at the end. */
  keys?: string
  run(): void
}

export interface MenuProps {
  /** The button that opens the menu. */
  trigger: Trigger
  entries: readonly MenuEntry[]
  label?: string
  align?: 'start' | 'end'
}

const itemClass =
  'flex min-h-8 max-sm:min-h-10 cursor-default items-center gap-2 rounded-md px-2 text-sm outline-none select-none data-highlighted:bg-active data-disabled:opacity-50 [&_svg]:size-4 [&_svg]:text-muted'

/** The menu itself. The component is loaded when a menu is first opened, so it starts open. */
export function MenuPopup({ trigger, entries, label, align = 'end' }: MenuProps) {
  const plain = entries.filter((entry) => !entry.danger)
  const dangers = entries.filter((entry) => entry.danger)
  return (
    <Base.Root defaultOpen>
      <Base.Trigger render={trigger} />
      {/* Placed inside a landmark of the page, so that users who navigate by landmarks find it. */}
      <Base.Portal container={document.querySelector('main') ?? document.body}>
        <Base.Positioner align={align} sideOffset={4} className="z-50 outline-none">
          <Base.Popup className="ui-popup max-w-72 min-w-44 p-1" aria-label={label}>
            {plain.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
            {plain.length > 0 && dangers.length > 0 && <Base.Separator className="mx-1 my-1 h-px bg-line" />}
            {dangers.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

function Entry({ entry }: { entry: MenuEntry }) {
  return (
    <Base.Item
      className={`${itemClass} ${entry.danger ? 'text-bad [&_svg]:text-bad' : ''}`}
      disabled={entry.disabled ?? false}
      title={entry.hint}
      onClick={entry.run}
    >
      {entry.icon}
      <span className="flex-1">{entry.label}</span>
      {entry.keys !== undefined && <kbd className="font-mono text-xs text-muted">{entry.keys}</kbd>}
    </Base.Item>
  )
}
