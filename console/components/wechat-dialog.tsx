import { useEffect, useState } from 'react'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { Button } from './ui/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Input } from './ui/input.tsx'

/** How long a code is valid. */
const validSeconds = 180

interface WeChatDialogProps {
  title: string
  submit: string
  onClose(): void
  /**
   * Called with the code. If the code is refused, the dialog stays open. The messages of area `auth` must be loaded.
   */
  onCode(code: string): Promise<unknown>
}

/**
 * Logs in with WeChat, or connects a WeChat account: shows the QR code of the official account, and a box for the code
 * that this account sends.
 */
export function WeChatDialog({ title, submit, onClose, onCode }: WeChatDialogProps) {
  const t = useText()
  const { wechat_qrcode } = useServerStatus()
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState(false)
  const [left, setLeft] = useState(validSeconds)
  useEffect(() => {
    if (left === 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  const send = async () => {
    if (code.trim() === '') return
    setBusy(true)
    // If the call fails, it shows its own error.
    await onCode(code.trim()).then(onClose, () => undefined)
    setBusy(false)
  }
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
  return (
    <Dialog open onClose={onClose} title={title} text={t('wechat.text')} width="small">
      <form
        className="flex flex-col items-center gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          // Keeps the event from also reaching the page's own form.
          event.stopPropagation()
          void send()
        }}
      >
        {wechat_qrcode && (
          <img src={wechat_qrcode} alt={t('wechat.qr')} width={180} height={180} className="rounded-md bg-on-accent" />
        )}
        <label className="flex w-full flex-col gap-1 text-sm font-medium">
          {t('wechat.code')}
          <Input
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoComplete="one-time-code"
            inputMode="numeric"
          />
        </label>
        <p className="num text-sm text-muted">
          {left > 0 ? (
            t('wechat.left', { time })
          ) : (
            <button type="button" className="text-link underline" onClick={() => setLeft(validSeconds)}>
              {t('wechat.over')} {t('wechat.again')}
            </button>
          )}
        </p>
        <Button type="submit" look="primary" size="large" className="w-full" busy={busy} disabled={code.trim() === ''}>
          {submit}
        </Button>
      </form>
    </Dialog>
  )
}
