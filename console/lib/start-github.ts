import { oauthApi } from '../../contract/api/oauth.ts'
import { CallError, call } from './call.ts'
import { serverStatus } from './status.ts'
import { toast } from './toast.ts'

/** Leaves for the code-hosting service, to log in or to bind; it sends the browser back to /oauth/github. */
export async function startGitHub(): Promise<void> {
  try {
    location.assign(await call(oauthApi.githubStart, {}, { quiet: true }))
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.status !== 404) return void toast.error(error.message)
    // Servers without that call leave the address to the console.
    const query = new URLSearchParams({ client_id: serverStatus().github_client_id ?? '', scope: 'user:email' })
    location.assign(`https://github.com/login/oauth/authorize?${query}`)
  }
}
