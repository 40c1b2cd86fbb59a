import { useState } from 'react'
import { type Control, type FieldValues, type Path, useWatch } from 'react-hook-form'
import { authApi } from '../../../contract/api/auth.ts'
import { isMailAddress } from '../../../contract/api/fields.ts'
import type { BotCheck } from '../../components/bot-check.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { Button } from '../../components/ui/button.tsx'
import { call } from '../../lib/call.ts'
import { resendSeconds, useCountdown } from '../../lib/countdown.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

/** The email address and the button that sends a code to it. After sending, the button is disabled for a while. */
export function MailCodeField<T extends FieldValues>({ control, check }: { control: Control<T>; check: BotCheck }) {
  const t = useText()
  const name = 'email' as Path<T>
  const email = String(useWatch({ control, name }) ?? '').trim()
  const wait = useCountdown()
  const [sending, setSending] = useState(false)
  const send = async () => {
    if (email === '') return
    if (check.wanted && check.answer === '') return void toast.info(t('form.botCheck.wait'))
    setSending(true)
    try {
      await call(authApi.verification, { query: { email, turnstile: check.answer || undefined } })
      wait.start(resendSeconds)
      toast.success(t('register.codeSent'))
    } catch {
      // The call has already shown the error.
    }
    check.renew()
    setSending(false)
  }
  return (
    <div className="flex flex-col gap-2">
      <TextField
        control={control}
        name={name}
        label={t('register.email')}
        type="email"
        autoComplete="email"
        inputMode="email"
        spellCheck={false}
      />
      <Button
        busy={sending}
        disabled={wait.seconds > 0 || !isMailAddress(email)}
        className="self-start"
        onClick={() => void send()}
      >
        {wait.seconds > 0 ? t('form.resend', { seconds: wait.seconds }) : t('form.sendCode')}
      </Button>
    </div>
  )
}
