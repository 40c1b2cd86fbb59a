import * as z from 'zod/mini'
import { callJson, OutboundError } from './call-json.ts'

/** The OAuth application for logging in with GitHub, or with a service that has the same API. */
export interface GitHubApp {
  /** The base URL of the login pages, such as `https://github.com`, without a trailing slash. */
  oauthAddress: string
  /** The base URL of the API, such as `https://api.github.com`. */
  apiAddress: string
  clientId: string
  clientSecret: string
}

export interface GitHubAccount {
  /**
   * `<id>@<host>`. The account's id stays the same if the login name changes. The host is needed because other services
   * with this API may use the same id.
   */
  id: string
  login: string
  name: string
  /** Empty unless the person's profile shows an email address. */
  email: string
}

const service = 'The login service'
const tokenAnswer = z.object({ access_token: z.optional(z.string()), error: z.optional(z.string()) })
/** Removes control characters, because the text is shown and stored, and PostgreSQL's text type cannot store a NUL. */
const cleaned = z.string().check(z.overwrite((value) => value.replaceAll(/\p{Cc}+/gu, ' ').trim()))
const userAnswer = z.object({
  id: z.int().check(z.positive()),
  login: cleaned.check(z.minLength(1), z.maxLength(100)),
  name: z.nullish(cleaned),
  email: z.nullish(z.string()),
})

/**
 * The URL at which the person logs in with the browser. `challenge` is for PKCE. Services that do not support PKCE
 * ignore it.
 */
export function authorizeAddress(app: GitHubApp, state: string, challenge: string): string {
  const query = new URLSearchParams({
    client_id: app.clientId,
    scope: 'user:email',
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  return `${app.oauthAddress}/login/oauth/authorize?${query}`
}

/** Exchanges the authorization code from the redirect to the gateway for the account of the person who logged in. */
export async function githubAccount(
  app: GitHubApp,
  { code, verifier }: { code: string; verifier?: string },
): Promise<GitHubAccount> {
  const answer = await callJson(service, `${app.oauthAddress}/login/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: app.clientId,
      client_secret: app.clientSecret,
      code,
      ...(verifier !== undefined && { code_verifier: verifier }),
    }),
  })
  const { access_token: token, error } = understood(tokenAnswer, answer)
  if (token === undefined || token === '') {
    throw new OutboundError('refused', `${service} refused the code${reason(error)}. Please start the login again.`)
  }
  const profile = await callJson(service, `${app.apiAddress}/user`, {
    method: 'GET',
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'tollgate' },
  })
  const { id, login, name, email } = understood(userAnswer, profile)
  return { id: `${id}@${new URL(app.oauthAddress).host}`, login, name: name ?? '', email: email ?? '' }
}

/** The error code to show. OAuth's error codes are short words, so any other text is not shown. */
function reason(error: string | undefined): string {
  return error !== undefined && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : ''
}

function understood<S extends z.ZodMiniType>(schema: S, answer: unknown): z.output<S> {
  const result = z.safeParse(schema, answer)
  if (result.success) return result.data
  throw new OutboundError('unavailable', `${service} sent an invalid response.`, result.error)
}
