import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'

/** What this installation is and promises, beside the login on wide screens. */
export function Welcome() {
  const t = useText()
  const { system_name = 'Tollgate' } = useServerStatus()
  return (
    <aside aria-label={system_name} className="flex h-full flex-col justify-center gap-6 px-12 pb-12 xl:px-16">
      <p className="text-2xl font-semibold tracking-[-0.01em] text-balance">{t('welcome.promise')}</p>
      <ul className="flex flex-col gap-3 text-muted">
        {(['welcome.api', 'welcome.cost', 'welcome.route'] as const).map((key) => (
          <li key={key} className="flex gap-3">
            <span className="mt-2 size-1.5 shrink-0 rounded-full bg-accent" aria-hidden="true" />
            {t(key)}
          </li>
        ))}
      </ul>
    </aside>
  )
}
