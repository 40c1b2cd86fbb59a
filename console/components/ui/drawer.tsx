import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { backdropClass } from './dialog.tsx'
import { IconButton } from './icon-button.tsx'

interface DrawerProps {
  open: boolean
  onClose(): void
  title: string
  /** Beside the title, such as a status. */
  aside?: ReactNode
  footer?: ReactNode
  children: ReactNode
}

/** A panel at the side that shows more of one thing; the list stays behind it. */
export function Drawer({ open, onClose, title, aside, footer, children }: DrawerProps) {
  const t = useText()
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Popup className="fixed inset-y-0 right-0 z-50 flex w-full max-w-[520px] flex-col border-l border-line bg-surface shadow-overlay outline-none transition-transform duration-150 data-ending-style:translate-x-full data-starting-style:translate-x-full">
          <div className="flex min-h-14 items-center gap-3 border-b border-line px-5 py-2">
            <Base.Title className="min-w-0 truncate text-lg font-semibold">{title}</Base.Title>
            <div className="flex-1">{aside}</div>
            <IconButton label={t('do.close')} icon={<X />} onClick={onClose} className="-mr-1.5" />
          </div>
          <div className="flex min-h-0 flex-1 flex-col gap-5 overflow-y-auto px-5 py-4">{children}</div>
          {footer !== undefined && (
            <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
