import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import * as z from 'zod/mini'
import { authApi } from '../../../contract/api/auth.ts'
import { BotCheckWidget, useBotCheck } from '../../components/bot-check.tsx'
import { PasswordField, TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { OutsideLogins } from '../../components/outside-logins.tsx'
import { Badge } from '../../components/ui/badge.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { CallError, call } from '../../lib/call.ts'
import { useFinishLogin } from '../../lib/finish-login.ts'
import { useServerStatus } from '../../lib/status.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { isCommonPassword } from './common-passwords.ts'
import { MailCodeField } from './mail-code-field.tsx'

const minPasswordLength = 8

interface Values {
  username: string
  password: string
  password2: string
  email: string
  verification_code: string
}

const schema = z.object({
  username: z.string().check(z.trim(), z.minLength(1)),
  password: z.string(),
  password2: z.string(),
  email: z.string(),
  verification_code: z.string(),
})

/** `/register`: a new account, with an email code and the bot check if the server requires them. */
export function RegisterPage() {
  const t = useText()
  const aff = useInvitation()
  const finish = useFinishLogin()
  const { register_enabled, password_register_enabled } = useServerStatus()
  const closed = register_enabled === false || password_register_enabled === false
  return (
    <div className="w-full max-w-[22rem]">
      <div className="mb-5 flex flex-col items-center gap-2 text-center">
        <PageHeading title={t('register.title')} className="text-2xl!" />
        {aff !== '' && <Badge color="green">{t('register.invited')}</Badge>}
      </div>
      <div className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-control">
        {closed && <Banner kind="warn">{t('register.closed')}</Banner>}
        <RegisterForm aff={aff} closed={closed} />
        <OutsideLogins onDone={finish} />
      </div>
      <p className="mt-5 text-center text-sm text-muted">
        {t('register.haveAccount')}{' '}
        <Link to="/login" className="font-medium text-link hover:underline">
          {t('register.login')}
        </Link>
      </p>
    </div>
  )
}

/** The invite code from the URL, or the one stored during an earlier visit. */
function useInvitation(): string {
  const [aff] = useState(() => new URLSearchParams(location.search).get('aff') ?? readStored('aff') ?? '')
  useEffect(() => {
    if (aff !== '') writeStored('aff', aff)
  }, [aff])
  return aff
}

/** The state of the form and its submit action. */
function useRegister(aff: string) {
  const t = useText()
  const navigate = useNavigate()
  const { email_verification = false } = useServerStatus()
  const check = useBotCheck()
  const [refused, setRefused] = useState<string>()
  const form = useAppForm<Values>({
    schema,
    values: { username: '', password: '', password2: '', email: '', verification_code: '' },
  })
  const wrong = (field: 'password' | 'password2', key: 'register.tooShort' | 'register.mismatch') => {
    toast.info(t(key))
    form.setError(field, { message: text(key) }, { shouldFocus: true })
  }
  const submit = form.handleSubmit(async (values) => {
    setRefused(undefined)
    if (values.password.length < minPasswordLength) return wrong('password', 'register.tooShort')
    if (values.password !== values.password2) return wrong('password2', 'register.mismatch')
    if (check.wanted && check.answer === '') return void toast.info(t('form.botCheck.wait'))
    const mail = email_verification
      ? { email: values.email.trim(), verification_code: values.verification_code.trim() }
      : { email: '', verification_code: '' }
    const body = { username: values.username.trim(), password: values.password, password2: values.password2, ...mail }
    try {
      await call(authApi.register, {
        query: { turnstile: check.answer || undefined },
        body: { ...body, aff_code: aff },
      })
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      setRefused(error.message)
      check.renew()
      return
    }
    await navigate({ to: '/login' })
    toast.success(text('register.done'))
  })
  return { form, check, refused, submit, email_verification }
}

function RegisterForm({ aff, closed }: { aff: string; closed: boolean }) {
  const t = useText()
  const { form, check, refused, submit, email_verification } = useRegister(aff)
  const { control, formState } = form
  const [username, password] = form.watch(['username', 'password'])
  const filled = username.trim() !== '' && password !== ''
  return (
    <form
      aria-label={t('register.title')}
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (filled && !closed && !formState.isSubmitting) void submit(event)
      }}
    >
      {refused !== undefined && (
        <Banner kind="bad" title={t('register.refused')}>
          {refused}
        </Banner>
      )}
      <TextField
        control={control}
        name="username"
        label={t('register.username')}
        placeholder={t('register.username.placeholder')}
        autoComplete="username"
        autoFocus
        spellCheck={false}
      />
      <PasswordField
        control={control}
        name="password"
        label={t('register.password')}
        placeholder={t('register.password.placeholder')}
        autoComplete="new-password"
        hint={isCommonPassword(password) ? t('register.common') : undefined}
      />
      <PasswordField
        control={control}
        name="password2"
        label={t('register.password2')}
        placeholder={t('register.password.placeholder')}
        autoComplete="new-password"
      />
      {email_verification && (
        <>
          <MailCodeField control={control} check={check} />
          <TextField
            control={control}
            name="verification_code"
            label={t('register.code')}
            autoComplete="one-time-code"
            spellCheck={false}
          />
        </>
      )}
      <BotCheckWidget check={check} />
      <Button
        type="submit"
        look="primary"
        size="large"
        className="w-full"
        busy={formState.isSubmitting}
        disabled={!filled || closed}
      >
        {t('register.submit')}
      </Button>
    </form>
  )
}
