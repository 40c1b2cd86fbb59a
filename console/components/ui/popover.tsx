import { importPart } from '../../lib/chunk.ts'
import { lazyPart, OnDemand } from './on-demand.tsx'
import type { PopoverProps } from './popover-popup.tsx'

const part = lazyPart<PopoverProps>(async () => (await importPart(() => import('./popover-popup.tsx'))).PopoverPopup)

/** A small panel that a button opens. */
export function Popover(props: PopoverProps) {
  return (
    <OnDemand part={part} trigger={props.trigger} popup="dialog">
      {(Popup) => <Popup {...props} />}
    </OnDemand>
  )
}
