import { api } from '../../../contract/api/index.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import { mountEmail } from './email.ts'
import { mountGitHub } from './github.ts'
import { createOAuthStates } from './oauth-state.ts'
import type { OAuthDeps } from './outside-login.ts'
import { mountWeChat } from './wechat.ts'

/** External logins, and the external accounts that are connected to an account. */
export function mountOAuth(router: ApiRouter, ownDeps: Omit<OAuthDeps, 'sessions'>): void {
  const deps = { ...ownDeps, sessions: router.sessions }
  const states = createOAuthStates(deps)
  servePublic(router, api.oauth.state, ({ context }) => states.issue(context))
  mountGitHub(router, { ...deps, states })
  mountWeChat(router, deps)
  mountEmail(router, deps)
}
