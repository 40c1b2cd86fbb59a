import type { Trigger } from '../ui/on-demand.tsx'
import { PopoverPopup } from '../ui/popover-popup.tsx'
import { FacetPanel, type FacetPanelProps } from './facet-panel.tsx'

export interface FacetPopupProps extends FacetPanelProps {
  trigger: Trigger
}

/** The panel of a facet with its button. The component is loaded when a facet is first opened, so it starts open. */
export function FacetPopup({ trigger, ...panel }: FacetPopupProps) {
  return (
    <PopoverPopup trigger={trigger} title={panel.label} align="start">
      <FacetPanel {...panel} />
    </PopoverPopup>
  )
}
