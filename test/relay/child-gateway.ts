import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverProgram } from '../../tools/server-build.mjs'

const accessToken = 'childgatewayaccesstoken'
const rootToken = 'childgatewayroottoken0123456789'

/** The gateway as it runs in production: a separate process. */
export interface ChildGateway extends AsyncDisposable {
  url: string
  pid: number
  /** A relay token of root with unlimited quota. */
  token: string
  folder: string
  /** Everything that the gateway has written to its log. */
  output(): string
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>
  /** Log rows of charged calls, newest first. */
  logs(): Promise<ChildLog[]>
}

export interface ChildLog {
  quota: number
  outcome: string
  content: string
  prompt_tokens: number
  completion_tokens: number
}

/**
 * Starts the gateway with a data folder of its own. `trust` is a certificate that the gateway accepts from upstreams.
 */
export async function startChildGateway(
  options: { trust?: string; env?: Record<string, string> } = {},
): Promise<ChildGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-child-'))
  const trusted = join(folder, 'trusted.pem')
  if (options.trust !== undefined) writeFileSync(trusted, options.trust)
  const child = Bun.spawn([process.execPath, serverProgram()], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'inherit',
    // The 'ipc' channel closes when the test run ends, however it ends, so the gateway does not outlive the run.
    ipc() {},
    env: {
      PATH: process.env['PATH'] ?? '',
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      BUN_FEATURE_FLAG_EXPERIMENTAL_HTTP2_CLIENT: '1',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: folder,
      SECRET_KEY: 'secret key of the child gateway',
      INITIAL_ROOT_PASSWORD: 'child root password',
      INITIAL_ROOT_TOKEN: rootToken,
      INITIAL_ROOT_ACCESS_TOKEN: accessToken,
      ...(options.trust !== undefined && { NODE_EXTRA_CA_CERTS: trusted }),
      ...options.env,
    },
  })
  let output = ''
  const url = await new Promise<string>((found, fail) => {
    void (async () => {
      const decoder = new TextDecoder()
      for await (const bytes of child.stdout) {
        output += decoder.decode(bytes, { stream: true })
        const port = /listens on http:\/\/[^:]+:(\d+)/.exec(output)?.[1]
        if (port) found(`http://127.0.0.1:${port}`)
      }
      fail(new Error(`the gateway did not start: ${output}`))
    })()
  })
  const post = (path: string, body: unknown, init: RequestInit = {}) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      ...init,
      headers: {
        authorization: `Bearer sk-${rootToken}`,
        'content-type': 'application/json',
        ...(init.headers as object),
      },
    })
  const api = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const init = {
      method,
      headers: { authorization: accessToken },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const answer = (await (await fetch(url + path, init)).json()) as { success: boolean; message: string; data: T }
    if (!answer.success) throw new Error(`${method} ${path}: ${answer.message}`)
    return answer.data
  }
  // Tests of failures check the result of a single attempt.
  for (const key of ['RetryTimes', 'SameChannelRetries']) await api('PUT', '/api/option/', { key, value: '0' })
  return {
    url,
    pid: child.pid,
    token: `sk-${rootToken}`,
    folder,
    output: () => output,
    api,
    post,
    logs: () => api<ChildLog[]>('GET', '/api/log/?type=2'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
