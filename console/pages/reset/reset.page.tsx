import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import * as z from 'zod/mini'
import { authApi } from '../../../contract/api/auth.ts'
import { mailField } from '../../../contract/api/fields.ts'
import { BotCheckWidget, useBotCheck } from '../../components/bot-check.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { call } from '../../lib/call.ts'
import { resendSeconds, useCountdown } from '../../lib/countdown.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

const schema = z.object({ email: mailField })

/** `/reset`: requests the email with the link for setting a new password. */
export function ResetPage() {
  const t = useText()
  const check = useBotCheck()
  const wait = useCountdown()
  const [sent, setSent] = useState(false)
  const form = useAppForm<{ email: string }>({ schema, values: { email: '' } })
  const { isSubmitting } = form.formState
  const email = form.watch('email')

  const submit = form.handleSubmit(async (values) => {
    if (check.wanted && check.answer === '') return void toast.info(t('form.botCheck.wait'))
    try {
      await call(authApi.askReset, { query: { email: values.email.trim(), turnstile: check.answer || undefined } })
      wait.start(resendSeconds)
      setSent(true)
      form.reset({ email: '' })
      toast.success(t('reset.done'))
    } catch {
      // The call has already shown the error.
    }
    check.renew()
  })
  return (
    <div className="w-full max-w-[22rem]">
      <div className="mb-5 text-center">
        <PageHeading title={t('reset.title')} className="text-2xl!" />
      </div>
      <form
        aria-label={t('reset.title')}
        noValidate
        className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-control"
        onSubmit={(event) => {
          event.preventDefault()
          if (email.trim() !== '' && wait.seconds === 0 && !isSubmitting) void submit(event)
        }}
      >
        {sent ? (
          <Banner kind="good" live title={t('reset.done')}>
            {t('reset.done.text')}
          </Banner>
        ) : (
          <p className="text-sm text-muted">{t('reset.text')}</p>
        )}
        <TextField
          control={form.control}
          name="email"
          label={t('reset.email')}
          type="email"
          inputMode="email"
          autoComplete="email"
          autoFocus
          spellCheck={false}
        />
        <BotCheckWidget check={check} />
        <Button
          type="submit"
          look="primary"
          size="large"
          className="w-full"
          busy={isSubmitting}
          disabled={email.trim() === '' || wait.seconds > 0}
        >
          {wait.seconds > 0 ? t('reset.wait', { seconds: wait.seconds }) : t('reset.submit')}
        </Button>
      </form>
      <p className="mt-5 text-center text-sm">
        <Link to="/login" className="font-medium text-link hover:underline">
          {t('reset.back')}
        </Link>
      </p>
    </div>
  )
}
