import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from './button.tsx'
import { backdropClass } from './dialog.tsx'
import { IconButton } from './icon-button.tsx'

interface FilterSheetProps {
  active: number
  onClear(): void
  onClose(): void
  children: ReactNode
}

/**
 * The filters of a list on a phone, at the bottom of the screen. A choice applies immediately to the list behind the
 * sheet.
 */
export function FilterSheet({ active, onClear, onClose, children }: FilterSheetProps) {
  const t = useText()
  return (
    <Base.Root
      open
      onOpenChange={(next, details) => {
        // If a list was opened from the sheet, Escape closes only that list.
        if (details.reason === 'escape-key' && document.querySelector('.ui-popup')) details.cancel()
        else if (!next) onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Popup className="fixed inset-x-0 bottom-0 z-50 flex max-h-[85dvh] flex-col rounded-t-xl border-t border-line bg-surface shadow-overlay outline-none">
          <div className="flex min-h-14 items-center gap-3 px-4">
            <Base.Title className="flex-1 text-lg font-semibold">{t('table.filters')}</Base.Title>
            <IconButton label={t('do.close')} icon={<X />} onClick={onClose} className="-mr-1.5" />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-4 pt-1 pb-4">{children}</div>
          <div className="flex justify-between gap-2 border-t border-line px-4 py-3">
            <Button look="quiet" disabled={active === 0} onClick={onClear}>
              {t('table.filters.clear')}
            </Button>
            <Button look="primary" onClick={onClose}>
              {t('table.filters.done')}
            </Button>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
