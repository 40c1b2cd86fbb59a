import { expect } from 'bun:test'
import { cookieOf } from '../../helpers/api-app.ts'
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.ts'
import { type GatewayProcess, Installation } from '../../helpers/gateway-process.ts'
import { type MailServer, startMailServer } from '../../helpers/mail-server.ts'
import {
  type OAuthServer,
  startOAuthServer,
  startTurnstile,
  startWeChatHelper,
  type TurnstileServer,
  type WeChatHelper,
} from '../../helpers/outside-services.ts'
import { otherForm, type Row } from './rows.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the walk looks into answers of every shape
  json: any
}

/** A user, and the headers that authenticate the user in every request. */
export interface Person {
  username: string
  headers: Record<string, string>
}

/** The credentials that the users of a walk (a run of requests through all endpoints) use. */
export type LoginKind = 'cookie' | 'access token'

const rootPassword = 'root password of the walk'

interface Services {
  mail: MailServer
  oauth: OAuthServer
  wechat: WeChatHelper
  turnstile: TurnstileServer
  upstream: FakeUpstream
}

/** A fresh server with all its external services, and a client that uses only HTTP. */
export class Walk implements AsyncDisposable {
  readonly services: Services
  readonly kind: LoginKind
  readonly gateway: GatewayProcess
  readonly #installation: Installation
  /** The calls made so far, each as `row, form`. */
  readonly made = new Set<string>()
  /**
   * With 'as written', the next calls use the row's path unchanged. With 'the other', a trailing slash is added to the
   * path, or removed if the row has one.
   */
  form: 'as written' | 'the other' = 'as written'
  root: Person = { username: 'root', headers: {} }
  #addresses = 0

  private constructor(installation: Installation, gateway: GatewayProcess, services: Services, kind: LoginKind) {
    this.#installation = installation
    this.gateway = gateway
    this.services = services
    this.kind = kind
  }

  static async start(kind: LoginKind, databaseUrl: string): Promise<Walk> {
    const services = {
      mail: await startMailServer(),
      oauth: await startOAuthServer(),
      wechat: await startWeChatHelper(),
      turnstile: await startTurnstile(),
      upstream: await startFakeUpstream(),
    }
    const installation = new Installation(databaseUrl.startsWith('postgres') ? databaseUrl : undefined, {
      INITIAL_ROOT_PASSWORD: rootPassword,
      // Every request reports a different client address, so that the rate limits per address do not affect this test.
      TRUSTED_PROXIES: '127.0.0.1',
    })
    const walk = new Walk(installation, await installation.start(), services, kind)
    walk.root = await walk.logIn('root', rootPassword)
    return walk
  }

  /**
   * A letter for the current form. It is part of the names of created objects, so that the calls in the two forms use
   * different names.
   */
  get mark(): string {
    return this.form === 'as written' ? 'w' : 'o'
  }

  /**
   * Makes a row's call in the current form. Each `{name}` in the row is replaced by its value in `values`, or by
   * nothing if there is no value.
   */
  async call(row: Row, values: Record<string, string | number> = {}, body?: unknown, as?: Person): Promise<Answer> {
    const [method = '', template = ''] = row.split(' ')
    const written = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
    this.made.add(`${row}, ${this.form}`)
    return this.fetch(method, this.form === 'as written' ? written : otherForm(written), body, as?.headers)
  }

  /** Like `call`, but checks that the response is a success and has no fields other than `data`. Returns `data`. */
  async ok(
    row: Row,
    values: Record<string, string | number> = {},
    body?: unknown,
    as?: Person,
    // biome-ignore lint/suspicious/noExplicitAny: the walk looks into answers of every shape
  ): Promise<any> {
    const answer = await this.call(row, values, body, as)
    expect([row, answer.status, answer.text]).toEqual([row, 200, answer.text])
    expect([row, answer.json]).toMatchObject([row, { success: true, message: '' }])
    const keys = Object.keys(answer.json).filter((key) => key !== 'data')
    expect([row, keys.sort()]).toEqual([row, ['message', 'success']])
    expect(answer.headers.get('content-type')).toContain('application/json')
    return answer.json.data
  }

  /** Like `call`, but checks that the response is a refusal with a message. Its status is 200 by default. */
  async refused(
    row: Row,
    values: Record<string, string | number> = {},
    body?: unknown,
    as?: Person,
    status = 200,
  ): Promise<string> {
    const answer = await this.call(row, values, body, as)
    const { success, message, code } = answer.json
    const [said, named] = [typeof message, typeof code]
    expect([row, answer.status, success, said, named]).toEqual([row, status, false, 'string', 'string'])
    expect(answer.json.message.length).toBeGreaterThan(5)
    return answer.json.message
  }

  async fetch(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const number = ++this.#addresses
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: { 'x-forwarded-for': `10.0.${number >> 8}.${number & 255}`, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // By default, fetch follows a redirect, and may change the method or drop the body. The test must see the
      // redirect itself.
      redirect: 'manual',
    })
    const text = await response.text()
    const isJson = text.startsWith('{') || text.startsWith('[')
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
  }

  /** Logs in with a password. With the kind `access token`, the session is used only to get an access token. */
  async logIn(username: string, password: string): Promise<Person> {
    const login = await this.call('POST /api/user/login', {}, { username, password })
    expect([username, login.json]).toMatchObject([username, { success: true }])
    const cookie = cookieOf(login)
    if (this.kind === 'cookie') return { username, headers: { cookie } }
    const token = await this.ok('GET /api/user/token', {}, undefined, { username, headers: { cookie } })
    await this.fetch('GET', '/api/user/logout', undefined, { cookie })
    return { username, headers: { authorization: `Bearer ${token}` } }
  }

  /** Creates a user with the given role and a password, through calls made as root. */
  async newPerson(username: string, role: 1 | 10 = 1, quota = 0): Promise<Person & { id: number }> {
    const password = 'a good password'
    await this.ok('POST /api/user/', {}, { username, password, display_name: username }, this.root)
    const [found] = await this.ok('GET /api/user/search?keyword={keyword}', { keyword: username }, undefined, this.root)
    if (role === 10) await this.ok('POST /api/user/manage', {}, { username, action: 'promote' }, this.root)
    if (quota > 0) await this.ok('PUT /api/user/', {}, { id: found.id, username, quota }, this.root)
    return { id: found.id, ...(await this.logIn(username, password)) }
  }

  /** Sets options as root. */
  async setOptions(options: Readonly<Record<string, string>>): Promise<void> {
    for (const [key, value] of Object.entries(options)) {
      await this.ok('PUT /api/option/', {}, { key, value }, this.root)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#installation[Symbol.asyncDispose]()
    await Promise.all(Object.values(this.services).map((service) => service[Symbol.asyncDispose]()))
  }
}
