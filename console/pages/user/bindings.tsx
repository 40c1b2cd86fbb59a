import type { User } from '../../../contract/api/user.ts'
import { useText } from '../../lib/text.ts'

/** The external accounts that are connected to an account; read-only. */
export function Bindings({ user }: { user: User }) {
  const t = useText()
  const rows = [
    [t('user.form.github'), user.github_id],
    [t('user.form.wechat'), user.wechat_id],
    [t('user.form.email'), user.email],
  ] as const
  return (
    <section aria-label={t('user.form.bound')} className="border-t border-line pt-4">
      <h2 className="text-base font-medium">{t('user.form.bound')}</h2>
      <p className="text-sm text-muted">{t('user.form.bound.hint')}</p>
      <dl className="mt-3 grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5 text-sm">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">
              {value === '' ? <span className="text-muted">{t('user.form.unbound')}</span> : value}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
