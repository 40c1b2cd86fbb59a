import { Tabs as Base } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

export interface Tab<T extends string> {
  id: T
  label: string
  content: ReactNode
}

/** Tabs. Only the content of the selected tab is on the page. */
export function Tabs<T extends string>(props: {
  tabs: readonly Tab<T>[]
  value: T
  onChange(tab: T): void
  label: string
}) {
  return (
    <Base.Root value={props.value} onValueChange={(value) => props.onChange(value as T)}>
      <Base.List
        aria-label={props.label}
        className="relative mb-4 flex gap-1 overflow-x-auto border-b border-line text-sm"
      >
        {props.tabs.map((tab) => (
          <Base.Tab
            key={tab.id}
            value={tab.id}
            className="h-9 shrink-0 px-3 font-medium text-muted hover:text-fg data-active:text-fg focus-visible:-outline-offset-2"
          >
            {tab.label}
          </Base.Tab>
        ))}
        <Base.Indicator className="absolute bottom-0 left-0 h-0.5 w-(--active-tab-width) translate-x-(--active-tab-left) bg-accent transition-all duration-120" />
      </Base.List>
      {props.tabs.map((tab) => (
        <Base.Panel key={tab.id} value={tab.id} className="outline-none">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  )
}
