import { MessageCircle } from 'lucide-react'
import { Suspense, useState } from 'react'
import { oauthApi } from '../../contract/api/oauth.ts'
import type { User } from '../../contract/api/user.ts'
import { call } from '../lib/call.ts'
import { lazy } from '../lib/lazy.ts'
import { startGitHub } from '../lib/start-github.ts'
import { useServerStatus } from '../lib/status.ts'
import { useText } from '../lib/text.ts'
import { Button } from './ui/button.tsx'

const WeChatDialog = lazy(() => import('./wechat-dialog.tsx').then((it) => ({ default: it.WeChatDialog })))

/** Buttons for external logins. The component is loaded if the server offers any. */
export function OutsideLoginButtons({ onDone }: { onDone(user: User): void }) {
  const t = useText()
  const { github_oauth, wechat_login } = useServerStatus()
  const [wechat, setWechat] = useState(false)
  return (
    <>
      <div className="flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {t('login.or')}
      </div>
      <div className="flex flex-col gap-2">
        {github_oauth && (
          <Button size="large" icon={<GitHubMark />} onClick={() => void startGitHub()}>
            {t('login.github')}
          </Button>
        )}
        {wechat_login && (
          <Button size="large" icon={<MessageCircle />} onClick={() => setWechat(true)}>
            {t('login.wechat')}
          </Button>
        )}
      </div>
      <Suspense fallback={null}>
        {wechat && (
          <WeChatDialog
            title={t('wechat.title')}
            submit={t('wechat.submit')}
            onClose={() => setWechat(false)}
            onCode={async (code) => onDone(await call(oauthApi.wechat, { query: { code } }))}
          />
        )}
      </Suspense>
    </>
  )
}

function GitHubMark() {
  return (
    <svg viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
      <path d="M8 0a8 8 0 0 0-2.53 15.59c.4.07.55-.17.55-.38v-1.34c-2.23.48-2.7-1.07-2.7-1.07-.36-.93-.89-1.18-.89-1.18-.73-.5.05-.49.05-.49.8.06 1.23.83 1.23.83.72 1.22 1.87.87 2.33.66.07-.52.28-.87.5-1.07-1.77-.2-3.64-.89-3.64-3.95 0-.87.31-1.59.82-2.15-.08-.2-.36-1.02.08-2.12 0 0 .67-.21 2.2.82a7.6 7.6 0 0 1 4 0c1.53-1.04 2.2-.82 2.2-.82.44 1.1.16 1.92.08 2.12.51.56.82 1.27.82 2.15 0 3.07-1.87 3.75-3.65 3.95.29.25.54.73.54 1.48v2.19c0 .21.15.46.55.38A8 8 0 0 0 8 0Z" />
    </svg>
  )
}
