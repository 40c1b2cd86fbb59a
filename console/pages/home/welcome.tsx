import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Status } from '../../components/ui/badge.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { formatTime } from '../../lib/format.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'

/** For visitors who are not logged in: what this server is, how to log in, and how the server is set up. */
export function Welcome() {
  const t = useText()
  const { system_name, register_enabled } = useServerStatus()
  return (
    <div className="mx-auto flex max-w-2xl flex-col gap-8 py-6 sm:py-12">
      <div className="flex flex-col items-center text-center">
        <p className="text-2xl font-semibold tracking-[-0.02em]">{system_name ?? 'Tollgate'}</p>
        <p className="mt-2 text-muted">{t('home.text')}</p>
        <p className="mt-6 flex flex-wrap justify-center gap-2">
          <Link to="/login" className={buttonClass({ look: 'primary', size: 'large' })}>
            {t('home.login')}
          </Link>
          {register_enabled !== false && (
            <Link to="/register" className={buttonClass({ size: 'large' })}>
              {t('home.register')}
            </Link>
          )}
        </p>
      </div>
      <StatusCard />
    </div>
  )
}

function StatusCard() {
  const t = useText()
  const status = useServerStatus()
  const ways: [label: string, on: boolean | undefined][] = [
    [t('home.password'), status.password_login_enabled],
    [t('home.registration'), status.register_enabled],
    [t('home.email'), status.email_verification],
    [t('home.github'), status.github_oauth],
    [t('home.wechat'), status.wechat_login],
    [t('home.botCheck'), status.turnstile_check],
  ]
  return (
    <Card title={t('home.status')}>
      <dl className="grid gap-x-10 gap-y-2 text-sm sm:grid-cols-2">
        <Line label={t('home.version')}>
          <span className="num" data-verbatim>
            {status.version ?? '–'}
          </span>
        </Line>
        <Line label={t('home.started')}>
          <time className="num">{status.start_time === undefined ? '–' : formatTime(status.start_time)}</time>
        </Line>
        {ways.map(([label, on]) => (
          <Line key={label} label={label}>
            {on === undefined ? '–' : <Status color={on ? 'green' : 'grey'}>{t(on ? 'home.on' : 'home.off')}</Status>}
          </Line>
        ))}
      </dl>
    </Card>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex min-h-6 items-center justify-between gap-4">
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
