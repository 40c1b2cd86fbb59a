import { openStore } from '../../server/store/connection/open.ts'
import type { Store } from '../../server/store/store.ts'
import { closedPort } from '../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../helpers/gateway-process.ts'
import type { World } from './requests.ts'

export type RoleName = 'visitor' | 'user' | 'admin' | 'root'

const roleNumber = { user: 1, admin: 10, root: 100 } as const

const controlToken = 'access-token-of-the-control'

/** A user who sends invalid requests: the session cookie, and the user's tokens, which requests name. */
interface Actor {
  id: number
  cookie: string
  tokens: number[]
}

/**
 * A gateway in a separate process, with rows that requests can name and a user of each role. The requests of a run may
 * change or delete these rows and users.
 */
export class FuzzRig implements AsyncDisposable {
  readonly gateway: GatewayProcess
  readonly store: Store
  readonly #installation: Installation
  readonly #nowhere: string
  readonly #actors = new Map<RoleName, Actor>()
  readonly #actorIds = new Set<number>()
  #made = 0
  #addresses = 0
  #world: Omit<World, 'tokens'>

  private constructor(installation: Installation, gateway: GatewayProcess, nowhere: string) {
    this.#installation = installation
    this.gateway = gateway
    this.#nowhere = nowhere
    this.store = openStore({ url: installation.databaseUrl })
    this.#world = { users: [], channels: [], redemptions: [], nowhere }
  }

  static async start(databaseUrl: string): Promise<FuzzRig> {
    const port = await closedPort()
    const installation = new Installation(databaseUrl.startsWith('postgres') ? databaseUrl : undefined, {
      INITIAL_ROOT_ACCESS_TOKEN: controlToken,
      // Each request has a different client address in X-Forwarded-For, so that the rate limits do not apply.
      TRUSTED_PROXIES: '127.0.0.1',
      // Requests to other hosts go to a port where nothing listens.
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
      NO_PROXY: '127.0.0.1,localhost',
    })
    const gateway = await installation.start()
    const rig = new FuzzRig(installation, gateway, `http://127.0.0.1:${port}`)
    await rig.resetOptions()
    await rig.refill()
    for (const role of ['user', 'admin', 'root'] as const) await rig.#renew(role)
    return rig
  }

  /** Resets options that would make whole routes unreachable, or would make the gateway contact other hosts. */
  async resetOptions(): Promise<void> {
    const options = {
      PasswordLoginEnabled: 'true',
      PasswordRegisterEnabled: 'true',
      RegisterEnabled: 'true',
      EmailVerificationEnabled: 'false',
      EmailDomainRestrictionEnabled: 'false',
      TurnstileVerifyURL: this.#nowhere,
      TurnstileCheckEnabled: 'false',
      GitHubClientId: 'client',
      GitHubOAuthBaseURL: this.#nowhere,
      GitHubApiBaseURL: this.#nowhere,
      GitHubOAuthEnabled: 'true',
      WeChatServerAddress: this.#nowhere,
      WeChatAuthEnabled: 'true',
      SMTPServer: '127.0.0.1',
      SMTPPort: new URL(this.#nowhere).port,
      SMTPFrom: 'gate@example.com',
      NotifyWebhookURL: this.#nowhere,
      MessagePusherAddress: this.#nowhere,
      ChannelTestFrequency: '0',
    }
    for (const [key, value] of Object.entries(options)) await this.control('PUT', '/api/option/', { key, value })
  }

  /** Creates rows for the requests to name, and replaces rows that are gone. */
  async refill(): Promise<void> {
    const users: { id: number; username: string }[] = []
    for (let made = 0; made < 3; made++) users.push(await this.#account(1, 5_000))
    const channels: number[] = []
    for (let made = 0; made < 6; made++) {
      const ids = await this.control<number[]>('POST', '/api/channel/', {
        type: 1,
        name: `c${made}`,
        key: made % 2 === 0 ? 'key-one\nkey-two' : 'key-one',
        key_mode: 'multi',
        base_url: this.#nowhere,
        models: 'gpt-4o',
      })
      channels.push(...ids)
    }
    await this.control('POST', '/api/redemption/', { name: 'fuzz', quota: 500, count: 10 })
    const redemptions = (await this.control<{ id: number }[]>('GET', '/api/redemption/?p=0')).map(({ id }) => id)
    this.#world = { ...this.#world, users, channels, redemptions }
    for (const actor of this.#actors.values()) actor.tokens = await this.#newTokens(actor.cookie)
  }

  /** The rows that a role's requests can refer to: the role's own tokens and those of other roles. */
  worldOf(role: RoleName): World {
    const own = this.#actors.get(role)?.tokens ?? []
    const others = [...this.#actors].filter(([name]) => name !== role).flatMap(([, { tokens }]) => tokens)
    return { ...this.#world, tokens: [...own, ...own, ...others] }
  }

  /** The cookie of an enabled user of that role. */
  async cookieOf(role: RoleName): Promise<string> {
    if (role === 'visitor') return ''
    const known = this.#actors.get(role)
    if (known && (await this.#isWell(known, role))) return known.cookie
    return (await this.#renew(role)).cookie
  }

  /** All users that have ever sent requests in this run. */
  get actorIds(): ReadonlySet<number> {
    return this.#actorIds
  }

  async #isWell(actor: Actor, role: Exclude<RoleName, 'visitor'>): Promise<boolean> {
    const response = await fetch(`${this.gateway.url}/api/user/self`, {
      headers: { cookie: actor.cookie, ...this.newAddress() },
    })
    const { success, data } = (await response.json()) as { success: boolean; data?: { role: number } }
    return success && data?.role === roleNumber[role]
  }

  async #renew(role: Exclude<RoleName, 'visitor'>): Promise<Actor> {
    // Only requests from root can have changed the options in a way that locks other users out.
    if (role === 'root') await this.resetOptions()
    const { id, username } = await this.#account(roleNumber[role], 7_000)
    const login = await fetch(`${this.gateway.url}/api/user/login`, {
      method: 'POST',
      headers: this.newAddress(),
      body: JSON.stringify({ username, password: 'password 123' }),
    })
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    if (cookie === '') throw new Error(`nobody could be logged in as ${role}: ${await login.text()}`)
    const actor = { id, cookie, tokens: await this.#newTokens(cookie) }
    this.#actors.set(role, actor)
    this.#actorIds.add(id)
    return actor
  }

  async #newTokens(cookie: string): Promise<number[]> {
    const ids: number[] = []
    for (let made = 0; made < 5; made++) {
      const response = await fetch(`${this.gateway.url}/api/token/`, {
        method: 'POST',
        headers: { cookie, ...this.newAddress() },
        body: JSON.stringify({ name: `own ${made}`, remain_quota: 300, unlimited_quota: made === 4 }),
      })
      const { data } = (await response.json()) as { data?: { id: number } }
      if (data) ids.push(data.id)
    }
    return ids
  }

  /** A header that gives a request a new client address. */
  newAddress(): Record<string, string> {
    const number = ++this.#addresses
    return { 'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` }
  }

  /** Calls the management API as a root user whom the other users cannot reach. Throws if the call fails. */
  async control<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: { authorization: controlToken, ...this.newAddress() },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { success: boolean; message: string; data: T }
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }

  async #account(role: number, quota: number): Promise<{ id: number; username: string }> {
    const username = `z${++this.#made}`
    const { id } = await this.control<{ id: number }>('POST', '/api/user/', { username, password: 'password 123' })
    await this.control('PUT', '/api/user/', { id, quota, ...(role > 1 && { role }) })
    return { id, username }
  }

  /** Runs `tollgate audit` on the current database. */
  audit(): Promise<{ code: number | null; output: string }> {
    return this.#installation.run('audit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close()
    await this.#installation[Symbol.asyncDispose]()
  }
}
