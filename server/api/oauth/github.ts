import { isMailAddress } from '../../../contract/api/fields.ts'
import { api } from '../../../contract/api/index.ts'
import { optionDefinitions } from '../../../contract/options.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { AppContext, Person } from '../../http/app-env.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import type { Identity } from '../../http/session.ts'
import { authorizeAddress, type GitHubAccount, type GitHubApp, githubAccount } from '../../outbound/github.ts'
import type { Settings } from '../../settings/settings.ts'
import { type Account, accountsByMail, bindAccount, lockIdentity } from '../../store/accounts/identities.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { askOutside } from '../ask-outside.ts'
import { auditEvent } from '../audit-event.ts'
import { isAllowedAddress } from '../mail-address.ts'
import { loginView } from '../user-view.ts'
import type { OAuthStates } from './oauth-state.ts'
import { accountOf, firstLogin, logIn, type OAuthDeps } from './outside-login.ts'

/** Login with GitHub, and connecting GitHub accounts. */
export function mountGitHub(router: ApiRouter, deps: OAuthDeps & { states: OAuthStates }): void {
  const { settings, sessions, states, warn } = deps

  servePublic(router, api.oauth.githubStart, async ({ context }) => {
    const app = appOf(settings.current())
    const { state, challenge } = await states.issueWithChallenge(context)
    return authorizeAddress(app, state, challenge)
  })

  servePublic(router, api.oauth.github, async ({ query, context }) => {
    const now = settings.current()
    const app = appOf(now)
    if (query.state !== '' || !now.OAuthStateOptional) await states.demand(context, query.state)
    if (query.code === '') throw new ApiFailure('The authorization code is missing.')
    // A banned caller is refused before GitHub is called, so that the authorization code is not used up.
    const identity = usable(await sessions.identify(context))
    const verifier = states.verifierOf(query.state)
    const profile = await askOutside(
      warn,
      githubAccount(app, { code: query.code, ...(verifier !== undefined && { verifier }) }),
    )
    if (identity.kind === 'nobody') return loginView(await logInByGitHub(deps, context, profile))
    await bindGitHub(deps, context, identity.person, profile)
    // Clients check for this success message, and for no other.
    context.set('successMessage', 'bind')
    return undefined
  })
}

/** Throws ApiFailure for a banned person or an unknown access token. Accepts requests without a login. */
function usable(identity: Identity): Exclude<Identity, { kind: 'banned' | 'unknown-access-token' }> {
  if (identity.kind === 'banned') throw new ApiFailure('This account has been banned.')
  if (identity.kind === 'unknown-access-token') throw new ApiFailure('The access token is not valid.')
  return identity
}

/** The OAuth app in the options. Refuses the call if this login is disabled. */
function appOf(settings: Settings): GitHubApp {
  if (!settings.GitHubOAuthEnabled) throw new ApiFailure('Your administrator has not enabled this login.')
  const { GitHubOAuthBaseURL, GitHubApiBaseURL } = optionDefinitions
  return {
    oauthAddress: settings.GitHubOAuthBaseURL || GitHubOAuthBaseURL.default,
    apiAddress: settings.GitHubApiBaseURL || GitHubApiBaseURL.default,
    clientId: settings.GitHubClientId,
    clientSecret: settings.GitHubClientSecret,
  }
}

/**
 * Returns the account that is connected to the id. If there is none, returns an imported account that has only the
 * login name, and adds the id to it.
 */
async function boundAccount(trx: Trx, profile: GitHubAccount): Promise<Account | undefined> {
  const account =
    (await accountOf(trx, { github_account_id: profile.id })) ??
    (await accountOf(trx, { importedGitHubLogin: profile.login }))
  if (account) await bindAccount(trx, account.id, { github_account_id: profile.id, github_id: profile.login })
  return account
}

async function logInByGitHub(deps: OAuthDeps, context: AppContext, profile: GitHubAccount): Promise<Account> {
  return deps.store.write(async (trx) => {
    await lockIdentity(trx, 'github', profile.id)
    const known = await boundAccount(trx, profile)
    const account =
      known ??
      (await firstLogin(deps, trx, context, 'github', {
        display_name: [...(profile.name || 'GitHub User')].slice(0, 20).join(''),
        email: await freeAddress(trx, deps.settings.current(), profile.email),
        github_id: profile.login,
        github_account_id: profile.id,
      }))
    await logIn(deps, trx, context, account, 'github')
    return account
  })
}

/** The email address in the person's profile if it is allowed and free, otherwise ''. */
async function freeAddress(trx: Trx, settings: Settings, email: string): Promise<string> {
  if (!isMailAddress(email) || !isAllowedAddress(settings, email)) return ''
  await lockIdentity(trx, 'email', email)
  return (await accountsByMail(trx, email)).length === 0 ? email : ''
}

async function bindGitHub(deps: OAuthDeps, context: AppContext, person: Person, profile: GitHubAccount): Promise<void> {
  await deps.store.write(async (trx) => {
    await lockIdentity(trx, 'github', profile.id)
    const now = usable(await deps.sessions.identifyAgain(context, trx, person.id))
    if (now.kind === 'nobody') throw new ApiFailure('Not logged in. Log in or send an access token.', 401)
    const bound = await boundAccount(trx, profile)
    if (bound && bound.id !== person.id)
      throw new ApiFailure('This external account is already connected to another user.')
    await bindAccount(trx, person.id, { github_account_id: profile.id, github_id: profile.login })
    const call = { person, clientAddress: context.get('clientAddress') }
    const event = auditEvent(deps.clock, call, 'user.bind-github', `user ${person.id}`, profile.login)
    await recordAudit(trx, event)
  })
  await deps.announce({ topic: 'user', id: person.id })
}
