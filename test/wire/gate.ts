import { randomUUID } from 'node:crypto'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { api as contract } from '../../contract/api/index.ts'
import { roles } from '../../contract/roles.ts'
import { hashPassword } from '../../server/lib/secrets/password.ts'
import { addSession } from '../../server/store/accounts/sessions.ts'
import { addToken } from '../../server/store/accounts/tokens.ts'
import { addUser, deleteUser, updateUser } from '../../server/store/accounts/user-changes.ts'
import { answerByPath, type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.ts'
import { type MailServer, startMailServer } from '../helpers/mail-server.ts'
import {
  type OAuthServer,
  startOAuthServer,
  startService,
  startWeChatHelper,
  type WeChatHelper,
} from '../helpers/outside-services.ts'
import { startTestGateway, type TestGateway } from '../helpers/test-gateway.ts'

/** Every endpoint of the contract, with its operation id in the OpenAPI document. */
export const endpoints: readonly { name: string; endpoint: Endpoint }[] = Object.entries(contract).flatMap(
  ([group, each]) =>
    Object.entries<Endpoint>(each).map(([key, endpoint]) => ({
      name: `${group}${key[0]?.toUpperCase()}${key.slice(1)}`,
      endpoint,
    })),
)

export const whoNames = ['none', 'user', 'admin', 'root', 'banned', 'deleted'] as const
export type Who = (typeof whoNames)[number]

export const password = 'correct horse'
const passwordHash = await hashPassword(password)

/** A user with a session, an access token and a relay token. */
export interface Person {
  id: number
  username: string
  cookie: string
  accessToken: string
  tokenId: number
  /** Starts with `sk-`. */
  relayToken: string
}

/** How a caller authenticates. */
export interface Credentials {
  cookie?: string
  accessToken?: string
  relayToken?: string
}

interface CallOptions {
  as?: Credentials
  body?: unknown
  headers?: Record<string, string>
}

/** A gateway with everything that its calls use: an upstream, a mail server and services for external logins. */
export interface WireGate extends AsyncDisposable {
  gateway: TestGateway
  upstream: FakeUpstream
  smtp: MailServer
  hub: OAuthServer
  helper: WeChatHelper
  channelId: number
  /** Makes each call from a different address, so that no rate limit counts them together. */
  call(method: string, path: string, options?: CallOptions): Promise<Response>
  /** Creates a new user. Banned and deleted users get a session and tokens first, and are then banned or deleted. */
  person(who: Exclude<Who, 'none'>): Promise<Person>
}

export async function startWireGate(databaseUrl?: string): Promise<WireGate> {
  const upstream = await startFakeUpstream()
  upstream.always(answerByPath())
  const [smtp, hub, helper] = [await startMailServer(), await startOAuthServer(), await startWeChatHelper()]
  const feed = await startService((_, response) => void response.end('{"tag_name":"v9","body":"notes"}'))
  const gateway = await startTestGateway({
    ...(databaseUrl !== undefined && { databaseUrl }),
    env: { TRUSTED_PROXIES: '127.0.0.1' },
  })
  await setUp(gateway, { smtp, hub, helper })
  await gateway.setOption('UpdateFeedURL', feed.url)
  const channelId = await gateway.addChannel({ base_url: upstream.url, models })
  let calls = 0
  return {
    gateway,
    upstream,
    smtp,
    hub,
    helper,
    channelId,
    call(method, path, { as = {}, body, headers = {} } = {}) {
      const token = as.accessToken ?? as.relayToken
      const address = `10.${(++calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`
      return fetch(gateway.url + path, {
        method,
        redirect: 'manual',
        headers: {
          'x-forwarded-for': address,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(as.cookie !== undefined && { cookie: as.cookie }),
          ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isReady(body) ? body : asText(body) }),
      })
    },
    person: (who) => makePerson(gateway, who),
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await upstream.close()
      for (const each of [smtp, hub, helper, feed]) await each[Symbol.asyncDispose]()
    },
  }
}

/** Models that the upstream serves, one for each kind of call. */
const models =
  'gpt-4o,gpt-3.5-turbo-instruct,text-embedding-3-small,omni-moderation-latest,rerank-v3.5,dall-e-2,tts-1,whisper-1'

const isReady = (body: unknown) => body instanceof FormData || body instanceof ReadableStream
const asText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

async function setUp(
  { setOption }: TestGateway,
  { smtp, hub, helper }: Pick<WireGate, 'smtp' | 'hub' | 'helper'>,
): Promise<void> {
  for (const [key, value] of Object.entries({
    StatusPageEnabled: 'true',
    PublicModelsEnabled: 'true',
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPFrom: 'gate@example.com',
    GitHubClientId: hub.clientId,
    GitHubClientSecret: hub.clientSecret,
    GitHubOAuthBaseURL: hub.url,
    GitHubApiBaseURL: hub.url,
    GitHubOAuthEnabled: 'true',
    WeChatServerAddress: helper.url,
    WeChatServerToken: helper.token,
    WeChatAuthEnabled: 'true',
  })) {
    await setOption(key, value)
  }
}

let made = 0

async function makePerson({ context }: TestGateway, who: Exclude<Who, 'none'>): Promise<Person> {
  const { store, secrets } = context.api
  const username = `${who}${++made}`
  const [session, accessToken, key] = [randomUUID(), randomUUID(), randomUUID().replaceAll('-', '').padEnd(48, 'x')]
  const now = Math.floor(Date.now() / 1000)
  const role = who === 'admin' || who === 'root' ? roles[who] : roles.user
  return store.write(async (trx) => {
    const fields = { username, display_name: username, password: passwordHash, role }
    const id = await addUser(trx, { ...fields, quota: 1_000_000_000, created_time: now })
    await updateUser(trx, id, { access_token_hash: secrets.fingerprint(accessToken, 'access-token') })
    const id_hash = secrets.fingerprint(session, 'session')
    await addSession(trx, {
      id_hash,
      user_id: id,
      created_time: now,
      expires_time: now + 3600,
      seen: { address: '', client: '' },
    })
    const token = await addToken(trx, {
      user_id: id,
      key: secrets.seal(key, 'token'),
      key_hash: secrets.fingerprint(key, 'token-key'),
      name: username,
      created_time: now,
      expired_time: -1,
      remain_quota: 0,
      unlimited_quota: true,
      models: null,
      subnet: null,
    })
    if (who === 'banned') await updateUser(trx, id, { status: 2 })
    if (who === 'deleted') await deleteUser(trx, id)
    return { id, username, cookie: `session=${session}`, accessToken, tokenId: token.id, relayToken: `sk-${key}` }
  })
}
