import { oauthApi } from '../../contract/api/oauth.ts'
import { CallError, call } from './call.ts'
import { serverStatus } from './status.ts'
import { toast } from './toast.ts'

/** Goes to GitHub, to log in or to bind an account; GitHub sends the browser back to /oauth/github. */
export async function startGitHub(): Promise<void> {
  try {
    location.assign(await call(oauthApi.githubStart, {}, { quiet: true }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.status !== 404) return void toast.error(error.message)
    // On servers without that endpoint, the console builds the address itself.
    const query = new URLSearchParams({ client_id: serverStatus().github_client_id ?? '', scope: 'user:email' })
    location.assign(`https://github.com/login/oauth/authorize?${query}`)
  }
}
