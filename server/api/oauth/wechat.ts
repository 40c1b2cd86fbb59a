import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve, servePublic } from '../../http/serve-endpoint.ts'
import { wechatId } from '../../outbound/wechat.ts'
import { bindAccount, lockIdentity } from '../../store/accounts/identities.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { askOutside } from '../ask-outside.ts'
import { auditEvent } from '../audit-event.ts'
import { loginView } from '../user-view.ts'
import { accountOf, firstLogin, logIn, type OAuthDeps } from './outside-login.ts'

/** Login, or connecting an account, with a code that the WeChat helper server gave to the user. */
export function mountWeChat(router: ApiRouter, deps: OAuthDeps): void {
  const { store, settings, clock, warn, announce } = deps

  async function idOf(code: string): Promise<string> {
    const now = settings.current()
    if (!now.WeChatAuthEnabled || now.WeChatServerAddress === '') {
      throw new ApiFailure('Your administrator has not enabled this login.')
    }
    if (code === '') throw new ApiFailure('Enter the verification code.')
    return askOutside(warn, wechatId({ address: now.WeChatServerAddress, token: now.WeChatServerToken }, code))
  }

  servePublic(router, api.oauth.wechat, async ({ query, context }) => {
    const id = await idOf(query.code)
    return store.write(async (trx) => {
      await lockIdentity(trx, 'wechat', id)
      const account =
        (await accountOf(trx, { wechat_id: id })) ??
        (await firstLogin(deps, trx, context, 'wechat', { display_name: 'WeChat User', wechat_id: id }))
      await logIn(deps, trx, context, account, 'wechat')
      return loginView(account)
    })
  })

  serve(router, api.oauth.wechatBind, async (call) => {
    const { person } = call
    const id = await idOf(call.query.code)
    await store.write(async (trx) => {
      await lockIdentity(trx, 'wechat', id)
      await call.admitAgain(trx)
      const bound = await accountOf(trx, { wechat_id: id })
      if (bound && bound.id !== person.id) {
        throw new ApiFailure('This WeChat account is already connected to another user.')
      }
      await bindAccount(trx, person.id, { wechat_id: id })
      await recordAudit(trx, auditEvent(clock, call, 'user.bind-wechat', `user ${person.id}`))
    })
    await announce({ topic: 'user', id: person.id })
  })
}
