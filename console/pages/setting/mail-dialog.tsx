import { useId, useState } from 'react'
import { authApi } from '../../../contract/api/auth.ts'
import { oauthApi } from '../../../contract/api/oauth.ts'
import { BotCheckWidget, useBotCheck } from '../../components/bot-check.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Input } from '../../components/ui/input.tsx'
import { call } from '../../lib/call.ts'
import { resendSeconds, useCountdown } from '../../lib/countdown.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { refreshSelf } from './queries.ts'

/** Connects an email address, which the user confirms with a code. */
export function MailDialog({ onClose }: { onClose(): void }) {
  const t = useText()
  const id = useId()
  const check = useBotCheck()
  const wait = useCountdown()
  const [email, setEmail] = useState('')
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState<'send' | 'bind'>()
  const run = async (what: 'send' | 'bind', work: () => Promise<void>) => {
    setBusy(what)
    // If the call fails, it shows its own error.
    await work().catch(() => undefined)
    setBusy(undefined)
  }
  const send = () => {
    if (email.trim() === '') return
    if (check.wanted && check.answer === '') return void toast.info(t('setting.mail.botWait'))
    void run('send', async () => {
      const query = { email: email.trim(), turnstile: check.answer || undefined }
      await call(authApi.verification, { query }).finally(check.renew)
      wait.start(resendSeconds)
      toast.success(t('setting.mail.sent'))
    })
  }
  const ready = email.trim() !== '' && code.trim() !== ''
  const bind = () => {
    if (!ready) return
    void run('bind', async () => {
      await call(oauthApi.emailBind, { query: { email: email.trim(), code: code.trim() } })
      toast.success(t('setting.mail.done'))
      onClose()
      await refreshSelf()
    })
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('setting.mail.title')}
      text={t('setting.mail.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button type="submit" form={id} look="primary" busy={busy === 'bind'} disabled={!ready}>
            {t('setting.bind')}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          bind()
        }}
      >
        <div className="flex items-end gap-2">
          <label className="flex min-w-0 flex-1 flex-col gap-1 text-sm font-medium">
            {t('setting.bind.mail')}
            <Input
              type="email"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
              autoComplete="email"
              spellCheck={false}
            />
          </label>
          <Button busy={busy === 'send'} disabled={wait.seconds > 0} onClick={send}>
            {wait.seconds > 0 ? t('form.resend', { seconds: wait.seconds }) : t('form.sendCode')}
          </Button>
        </div>
        <BotCheckWidget check={check} />
        <label className="flex flex-col gap-1 text-sm font-medium">
          {t('setting.mail.code')}
          <Input
            value={code}
            onChange={(event) => setCode(event.target.value)}
            autoComplete="one-time-code"
            spellCheck={false}
          />
        </label>
      </form>
    </Dialog>
  )
}
