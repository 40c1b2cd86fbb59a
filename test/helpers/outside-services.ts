import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

/** One request as the service received it. */
export interface SeenRequest {
  method: string
  /** Path and query, as they were sent. */
  url: string
  headers: IncomingMessage['headers']
  body: string
}

interface Service extends AsyncDisposable {
  url: string
  requests: SeenRequest[]
}

type Handle = (request: SeenRequest, response: ServerResponse) => void

/** Starts a service on its own port that responds with the given handler. */
export async function startService(handle: Handle): Promise<Service> {
  const requests: SeenRequest[] = []
  const server: Server = createServer(async (message, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const request = {
      method: message.method ?? '',
      url: message.url ?? '',
      headers: message.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    requests.push(request)
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answerJson(response: ServerResponse, json: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}

/** A person with an account at the code-hosting service. */
export interface OutsidePerson {
  id: number
  login: string
  name?: string | null
  email?: string | null
}

export interface OAuthServer extends Service {
  clientId: string
  clientSecret: string
  /**
   * Simulates the browser of a person who opens this URL and agrees to the login. Returns the query parameters of the
   * callback.
   */
  agree(address: string, person: OutsidePerson): { code: string; state: string }
  /** Returns a code for a login that was started without a state and a challenge. */
  plainCode(person: OutsidePerson): string
}

/**
 * An OAuth server like GitHub's. Each code works once, and only with the client's secret and the verifier for the
 * login's challenge.
 */
export async function startOAuthServer(): Promise<OAuthServer> {
  const clientId = 'client-7'
  const clientSecret = 'the client secret'
  const codes = new Map<string, { person: OutsidePerson; challenge: string | null }>()
  const tokens = new Map<string, OutsidePerson>()

  function exchange(body: string): unknown {
    const sent = JSON.parse(body) as Record<string, string>
    const grant = codes.get(sent.code ?? '')
    codes.delete(sent.code ?? '')
    if (sent.client_id !== clientId || sent.client_secret !== clientSecret) {
      return { error: 'incorrect_client_credentials', error_description: 'The secret is wrong.' }
    }
    const challenge = createHash('sha256')
      .update(sent.code_verifier ?? '')
      .digest('base64url')
    if (!grant || (grant.challenge !== null && grant.challenge !== challenge)) {
      return { error: 'bad_verification_code', error_description: 'The code is incorrect or expired.' }
    }
    const token = randomUUID()
    tokens.set(token, grant.person)
    return { access_token: token, token_type: 'bearer', scope: 'user:email' }
  }

  const service = await startService(({ method, url, headers, body }, response) => {
    if (method === 'POST' && url === '/login/oauth/access_token') return answerJson(response, exchange(body))
    const person = tokens.get((headers.authorization ?? '').replace('Bearer ', ''))
    if (method === 'GET' && url === '/user' && person && headers['user-agent']) {
      return answerJson(response, { name: null, email: null, ...person, avatar_url: 'https://example.com/a.png' })
    }
    return answerJson(response, { message: 'Not Found' }, 404)
  })

  const addCode = (person: OutsidePerson, challenge: string | null) => {
    const code = randomUUID()
    codes.set(code, { person, challenge })
    return code
  }
  return {
    ...service,
    clientId,
    clientSecret,
    agree(address, person) {
      const query = new URL(address).searchParams
      if (query.get('client_id') !== clientId || query.get('scope') !== 'user:email') throw new Error('bad address')
      return { code: addCode(person, query.get('code_challenge')), state: query.get('state') ?? '' }
    },
    plainCode: (person) => addCode(person, null),
  }
}

export interface WeChatHelper extends Service {
  token: string
  /** Returns a one-time code for this account. */
  codeFor(id: string): string
}

/** The helper server for one-api's WeChat login. */
export async function startWeChatHelper(): Promise<WeChatHelper> {
  const token = 'wechat helper token'
  const codes = new Map<string, string>()
  const service = await startService(({ url, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://helper')
    if (pathname !== '/api/wechat/user') return answerJson(response, { message: 'Not Found' }, 404)
    if (headers.authorization !== token) return answerJson(response, { success: false, message: 'no right' })
    const code = searchParams.get('code') ?? ''
    const id = codes.get(code)
    codes.delete(code)
    return answerJson(response, id ? { success: true, message: '', data: id } : { success: false, message: 'bad code' })
  })
  let made = 0
  return {
    ...service,
    token,
    codeFor(id) {
      const code = `code-${++made}`
      codes.set(code, id)
      return code
    },
  }
}

export interface TurnstileServer extends Service {
  secret: string
  /** Returns the token of a person who has solved the challenge. It is valid once. */
  solve(): string
}

/** The service that verifies the tokens of the bot check. */
export async function startTurnstile(): Promise<TurnstileServer> {
  const secret = 'turnstile secret'
  const solved = new Set<string>()
  const service = await startService(({ body }, response) => {
    const sent = new URLSearchParams(body)
    const success = sent.get('secret') === secret && solved.delete(sent.get('response') ?? '')
    answerJson(response, success ? { success } : { success, 'error-codes': ['timeout-or-duplicate'] })
  })
  return {
    ...service,
    secret,
    solve() {
      const answer = randomUUID()
      solved.add(answer)
      return answer
    },
  }
}
