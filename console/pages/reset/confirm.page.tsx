import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { authApi } from '../../../contract/api/auth.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Input } from '../../components/ui/input.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { call } from '../../lib/call.ts'
import { writeClipboard } from '../../lib/clipboard.ts'
import { resendSeconds, useCountdown } from '../../lib/countdown.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

const linkLook = buttonClass({ look: 'primary', size: 'large', className: 'w-full' })

/** `/user/reset`: the page that the link in the reset email opens. It shows the new password. */
export function ResetConfirmPage() {
  const t = useText()
  const [{ email, token }] = useState(() => {
    const query = new URLSearchParams(location.search)
    // A + that was not encoded in the link arrives as a space; no email address contains a space.
    return { email: (query.get('email') ?? '').trim().replaceAll(' ', '+'), token: query.get('token') ?? '' }
  })
  const [password, setPassword] = useState<string>()
  return (
    <div className="w-full max-w-[24rem]">
      <div className="mb-5 text-center">
        <PageHeading title={t('reset.confirm.title')} className="text-2xl!" />
      </div>
      <div className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-control">
        {email === '' || token === '' ? (
          <EmptyState title={t('reset.confirm.dead')} text={t('reset.confirm.dead.text')}>
            <Link to="/reset" className={buttonClass({ look: 'primary' })}>
              {t('reset.confirm.again')}
            </Link>
          </EmptyState>
        ) : password === undefined ? (
          <ConfirmForm email={email} token={token} onDone={setPassword} />
        ) : (
          <>
            <Banner kind="good" live>
              {t('reset.confirm.made')}
            </Banner>
            <CopyField label={t('reset.confirm.password')} value={password} />
            <Link to="/login" className={linkLook}>
              {t('reset.confirm.login')}
            </Link>
          </>
        )}
      </div>
      <p className="mt-5 text-center text-sm">
        <Link to="/login" className="font-medium text-link hover:underline">
          {t('reset.back')}
        </Link>
      </p>
    </div>
  )
}

function ConfirmForm(props: { email: string; token: string; onDone(password: string): void }) {
  const { email, token, onDone } = props
  const t = useText()
  const wait = useCountdown()
  const [busy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    try {
      const password = await call(authApi.reset, { body: { email, token } })
      if (await writeClipboard(password)) toast.notice(t('reset.confirm.copied', { password }))
      onDone(password)
    } catch {
      // The call has already shown the error. After a refusal, the user must wait before trying the link again.
      wait.start(resendSeconds)
    }
    setBusy(false)
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void confirm()
      }}
    >
      <p className="text-sm text-muted">{t('reset.confirm.text')}</p>
      <label className="flex flex-col gap-1 text-sm font-medium">
        {t('reset.email')}
        <Input value={email} readOnly autoComplete="username" />
      </label>
      <Button type="submit" look="primary" size="large" className="w-full" busy={busy} disabled={wait.seconds > 0}>
        {wait.seconds > 0 ? t('reset.wait', { seconds: wait.seconds }) : t('reset.confirm.submit')}
      </Button>
      {wait.seconds > 0 && (
        <Link to="/reset" className="text-center text-sm text-link hover:underline">
          {t('reset.confirm.again')}
        </Link>
      )}
    </form>
  )
}
