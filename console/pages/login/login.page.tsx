import { Link, useRouterState } from '@tanstack/react-router'
import { type ComponentType, Suspense, useEffect, useId, useRef, useState } from 'react'
import { authApi } from '../../../contract/api/auth.ts'
import type { User } from '../../../contract/api/user.ts'
import { OutsideLogins } from '../../components/outside-logins.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { PasswordInput } from '../../components/ui/password-input.tsx'
import { CallError, call } from '../../lib/call.ts'
import { useCountdown } from '../../lib/countdown.ts'
import { useFinishLogin } from '../../lib/finish-login.ts'
import { lazy } from '../../lib/lazy.ts'
import { useServerStatus } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

/** The form does not wait for the panel. If the panel cannot be loaded, its space stays empty. */
const LoginPanel = lazy(() =>
  Promise.all([import('./panel.tsx'), loadAreas(['home', 'status'])]).then(
    ([it]): { default: ComponentType } => ({ default: it.LoginPanel }),
    () => ({ default: () => null }),
  ),
)
const isWide = matchMedia('(min-width: 1024px)').matches

/** Seconds to wait after the server has responded with "too many requests". */
const coolDownSeconds = 30

/** `/login`: a card with name and password, and the other login methods that the server offers. */
export function LoginPage() {
  const t = useText()
  const expired = useRouterState({ select: ({ location }) => new URLSearchParams(location.searchStr).has('expired') })
  const { register_enabled, status_page } = useServerStatus()
  const finish = useFinishLogin()
  const from = useRouterState({ select: ({ location }) => location.state.from })

  useEffect(() => {
    if (expired) toast.error(t('login.expired'))
  }, [expired, t])

  return (
    <div className="flex w-full max-w-4xl items-center justify-center gap-20">
      {isWide && (
        <aside className="min-w-0 flex-1 max-lg:hidden">
          <Suspense fallback={null}>
            <LoginPanel />
          </Suspense>
        </aside>
      )}
      <div className="w-full max-w-[22rem] shrink-0">
        <div className="mb-5 flex flex-col items-center text-center">
          <PageHeading title={t('login.title')} className="text-2xl!" />
        </div>
        <div className="flex flex-col gap-4 rounded-xl border border-line bg-surface p-6 shadow-control">
          {expired && <Banner kind="warn">{t('login.expired')}</Banner>}
          {from !== undefined && from !== '/' && <p className="text-sm text-muted">{t('login.continue')}</p>}
          <PasswordForm onDone={finish} />
          <OutsideLogins onDone={finish} />
        </div>
        {register_enabled !== false && (
          <p className="mt-5 text-center text-sm text-muted">
            {t('login.noAccount')}{' '}
            <Link to="/register" className="font-medium text-link hover:underline">
              {t('login.register')}
            </Link>
          </p>
        )}
        {status_page && (
          <p className="mt-5 text-center text-sm text-muted">
            <Link to="/status" className="font-medium text-link hover:underline">
              {t('login.status')}
            </Link>
          </p>
        )}
      </div>
    </div>
  )
}

/**
 * The form for name and password. It does not use the form library: two input boxes do not need it, and users wait for
 * this page to load.
 */
function PasswordForm({ onDone }: { onDone(user: User): void }) {
  const t = useText()
  const id = useId()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<string>()
  const passwordBox = useRef<HTMLInputElement>(null)
  const wait = useCountdown()
  const ready = username.trim() !== '' && password !== '' && wait.seconds === 0

  const submit = async () => {
    setBusy(true)
    setRefused(undefined)
    try {
      onDone(await call(authApi.login, { body: { username: username.trim(), password } }))
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (error.status === 429) wait.start(coolDownSeconds)
      setRefused(error.message)
      setPassword('')
      passwordBox.current?.focus()
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      aria-label={t('login.title')}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (ready && !busy) void submit()
      }}
      className="flex flex-col gap-4"
    >
      {refused !== undefined && (
        <Banner kind="bad" title={t('login.refused')}>
          {refused}
        </Banner>
      )}
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-name`} className="text-sm font-medium">
          {t('login.username')}
        </label>
        <Input
          id={`${id}-name`}
          name="username"
          value={username}
          onChange={(event) => setUsername(event.target.value)}
          readOnly={busy}
          autoComplete="username"
          autoFocus
          spellCheck={false}
        />
      </div>
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-password`} className="text-sm font-medium">
          {t('login.password')}
        </label>
        <PasswordInput
          id={`${id}-password`}
          ref={passwordBox}
          name="password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          readOnly={busy}
          autoComplete="current-password"
        />
        <Link to="/reset" className="self-end text-sm text-muted hover:text-fg hover:underline">
          {t('login.forgot')}
        </Link>
      </div>
      <Button type="submit" look="primary" size="large" busy={busy} disabled={!ready} className="w-full">
        {wait.seconds > 0 ? t('login.wait', { seconds: wait.seconds }) : t('login.submit')}
      </Button>
    </form>
  )
}
