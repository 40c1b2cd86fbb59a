import { importPart } from '../../lib/chunk.ts'
import type { MenuProps } from './menu-popup.tsx'
import { lazyPart, OnDemand } from './on-demand.tsx'

const part = lazyPart<MenuProps>(async () => (await importPart(() => import('./menu-popup.tsx'))).MenuPopup)

/** A menu that a button opens. */
export function Menu(props: MenuProps) {
  return (
    <OnDemand part={part} trigger={props.trigger} popup="menu">
      {(Popup) => <Popup {...props} />}
    </OnDemand>
  )
}
