import { AlertDialog } from '@base-ui/react/alert-dialog'
import { type ReactNode, useState } from 'react'
import { useText } from '../../lib/text.ts'
import { Button } from './button.tsx'
import { backdropClass } from './dialog.tsx'

export interface ConfirmProps {
  open: boolean
  onClose(): void
  title: string
  text?: ReactNode
  /** Label of the confirm button. */
  confirm: string
  /** The action destroys something; the button is red. */
  danger?: boolean
  /** A text that the user must type to enable the button. */
  typed?: string | undefined
  /** The dialog closes when this promise resolves and stays open when it rejects. */
  onConfirm(): Promise<unknown> | undefined
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog(props: ConfirmProps) {
  return (
    <AlertDialog.Root open={props.open} onOpenChange={(next) => !next && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={backdropClass} />
        <AlertDialog.Viewport className="fixed inset-0 z-50 grid grid-cols-[minmax(0,1fr)] place-items-center overflow-y-auto p-4">
          <AlertDialog.Popup className="ui-popup w-full max-w-md rounded-xl p-5">
            <AlertDialog.Title className="text-lg font-semibold break-words">{props.title}</AlertDialog.Title>
            {props.text !== undefined && (
              <AlertDialog.Description className="mt-1 text-sm text-muted" render={<div />}>
                {props.text}
              </AlertDialog.Description>
            )}
            <Question {...props} />
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

function Question({ onClose, confirm, danger = false, typed, onConfirm }: ConfirmProps) {
  const t = useText()
  const [busy, setBusy] = useState(false)
  const [entered, setEntered] = useState('')
  const goOn = async () => {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch {
      // The call has already shown why it failed, and the dialog stays open.
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className="mt-4 flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        void goOn()
      }}
    >
      {typed !== undefined && (
        <label className="flex flex-col gap-1 text-sm">
          {t('table.delete.type', { word: typed })}
          <input
            className="h-8 rounded-md border border-control bg-surface px-2.5"
            value={entered}
            onChange={(event) => setEntered(event.target.value)}
            autoComplete="off"
          />
        </label>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{t('do.cancel')}</Button>
        <Button
          type="submit"
          look={danger ? 'danger' : 'primary'}
          busy={busy}
          disabled={typed !== undefined && entered !== typed}
        >
          {confirm}
        </Button>
      </div>
    </form>
  )
}
