import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import { IconButton } from './icon-button.tsx'

export const backdropClass =
  'fixed inset-0 z-40 bg-[oklch(0_0_0/0.32)] transition-opacity duration-120 data-ending-style:opacity-0 data-starting-style:opacity-0'

interface DialogProps {
  open: boolean
  onClose(): void
  title: string
  text?: ReactNode
  children?: ReactNode
  /** The buttons at the end of the dialog. */
  footer?: ReactNode
  width?: 'small' | 'normal' | 'large'
}

const widths = { small: 'max-w-sm', normal: 'max-w-md', large: 'max-w-2xl' }

/** A dialog that traps the focus, restores it afterwards, and closes on Escape. */
export function Dialog({ open, onClose, title, text, children, footer, width = 'normal' }: DialogProps) {
  const t = useText()
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Viewport className="fixed inset-0 z-50 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto p-4">
          <Base.Popup className={`ui-popup w-full rounded-xl ${widths[width]}`}>
            <div className="flex items-start gap-3 px-5 pt-4">
              <Base.Title className="flex-1 text-lg font-semibold">{title}</Base.Title>
              <IconButton label={t('do.close')} icon={<X />} onClick={onClose} className="-mr-1.5" />
            </div>
            {text !== undefined && <Base.Description className="px-5 pt-1 text-sm text-muted">{text}</Base.Description>}
            {children !== undefined && <div className="px-5 pt-3">{children}</div>}
            <div className="flex flex-wrap justify-end gap-2 px-5 pt-4 pb-5">{footer}</div>
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  )
}
