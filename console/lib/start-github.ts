import { oauthApi } from '../../contract/api/oauth.ts'
import { CallError, call } from './call.ts'
import { serverStatus } from './status.ts'
import { toast } from './toast.ts'

/** Opens GitHub in order to log in or to connect an account. GitHub redirects the browser back to /oauth/github. */
export async function startGitHub(): Promise<void> {
  try {
    location.assign(await call(oauthApi.githubStart, {}, { quiet: true }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.status !== 404) return void toast.error(error.message)
    // On servers without the endpoint that returns this URL, the console builds the URL itself.
    const query = new URLSearchParams({ client_id: serverStatus().github_client_id ?? '', scope: 'user:email' })
    location.assign(`https://github.com/login/oauth/authorize?${query}`)
  }
}
