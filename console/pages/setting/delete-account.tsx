import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { deleteOwnAccount } from './queries.ts'

/** Deletes the user's own account after the user has typed its name. */
export function DeleteAccount({ onClose }: { onClose(): void }) {
  const t = useText()
  const id = useId()
  const navigate = useNavigate()
  const name = useSessionUser()?.username ?? ''
  const [typed, setTyped] = useState('')
  const [wrong, setWrong] = useState(false)
  const [busy, setBusy] = useState(false)
  const remove = async () => {
    if (typed !== name) {
      setWrong(true)
      toast.error(t('setting.delete.mismatch'))
      return
    }
    setBusy(true)
    try {
      await deleteOwnAccount()
    } catch {
      // The call has already shown why it failed.
      setBusy(false)
      return
    }
    await navigate({ to: '/login' })
    toast.success(t('setting.delete.done'))
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('setting.delete.title')}
      text={t('setting.delete.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button type="submit" form={id} look="danger" busy={busy}>
            {t('setting.delete')}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-1 text-sm"
        onSubmit={(event) => {
          event.preventDefault()
          void remove()
        }}
      >
        <label htmlFor={`${id}-name`}>{t('setting.delete.type', { name })}</label>
        <Input
          id={`${id}-name`}
          value={typed}
          placeholder={name}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={wrong || undefined}
          aria-describedby={wrong ? `${id}-wrong` : undefined}
          onChange={(event) => {
            setTyped(event.target.value)
            setWrong(false)
          }}
        />
        {wrong && (
          <p id={`${id}-wrong`} className="text-bad">
            {t('setting.delete.mismatch')}
          </p>
        )}
      </form>
    </Dialog>
  )
}
