import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { oauthApi } from '../../../contract/api/oauth.ts'
import { Button } from '../../components/ui/button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { call } from '../../lib/call.ts'
import { lazy } from '../../lib/lazy.ts'
import { selfQuery } from '../../lib/self.ts'
import { startGitHub } from '../../lib/start-github.ts'
import { useServerStatus } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { refreshSelf } from './queries.ts'

const MailDialog = lazy(() => import('./mail-dialog.tsx').then((it) => ({ default: it.MailDialog })))
const WeChatDialog = lazy(async () => {
  const [{ WeChatDialog }] = await Promise.all([import('../../components/wechat-dialog.tsx'), loadAreas(['auth'])])
  return { default: WeChatDialog }
})

/** Email, WeChat and GitHub: which account is connected, and how to connect one. */
export function Bindings() {
  const t = useText()
  const { data } = useQuery(selfQuery)
  const { github_oauth = false, wechat_login = false } = useServerStatus()
  const [open, setOpen] = useState<'mail' | 'wechat'>()
  const close = () => setOpen(undefined)
  const bindWeChat = async (code: string) => {
    await call(oauthApi.wechatBind, { query: { code } })
    toast.success(t('setting.wechat.done'))
    await refreshSelf()
  }
  return (
    <Card title={t('setting.bindings')}>
      <ul className="-my-3 divide-y divide-line">
        <Binding what={t('setting.bind.mail')} bound={data?.email} onBind={() => setOpen('mail')} changeable />
        {(github_oauth || data?.github_id) && (
          <Binding
            what={t('setting.bind.github')}
            bound={data?.github_id}
            onBind={() => void startGitHub()}
            off={!github_oauth}
          />
        )}
        {(wechat_login || data?.wechat_id) && (
          <Binding
            what={t('setting.bind.wechat')}
            bound={data?.wechat_id}
            onBind={() => setOpen('wechat')}
            off={!wechat_login}
          />
        )}
      </ul>
      <Suspense fallback={null}>
        {open === 'mail' && <MailDialog onClose={close} />}
        {open === 'wechat' && (
          <WeChatDialog
            title={t('setting.wechat.title')}
            submit={t('setting.bind')}
            onClose={close}
            onCode={bindWeChat}
          />
        )}
      </Suspense>
    </Card>
  )
}

interface BindingProps {
  what: string
  /** Name of the connected account; '' = none, undefined = not known yet. */
  bound: string | undefined
  onBind(): void
  /** Whether the connected account can be replaced. */
  changeable?: boolean
  off?: boolean
}

function Binding({ what, bound, onBind, changeable = false, off = false }: BindingProps) {
  const t = useText()
  const action = t(bound ? 'setting.bind.change' : 'setting.bind')
  return (
    <li className="flex min-h-14 flex-wrap items-center justify-between gap-3 py-2">
      <div className="min-w-0">
        <p className="text-sm font-medium">{what}</p>
        {bound === undefined ? (
          <Skeleton className="mt-1 h-4 w-32" />
        ) : bound === '' ? (
          <p className="text-sm text-muted">{t('setting.bindings.none')}</p>
        ) : (
          <p className="text-sm break-words text-muted" data-verbatim>
            {bound}
          </p>
        )}
        {off && <p className="text-sm text-muted">{t('setting.bind.off')}</p>}
      </div>
      {!off && (!bound || changeable) && (
        <Button aria-label={t('setting.bind.name', { what, action })} onClick={onBind}>
          {action}
        </Button>
      )}
    </li>
  )
}
