import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, FetchJson, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

const keyForm = 'account id|API token, or the token alone with the account id in config.user_id'

/**
 * The account and the token in a channel's key. The account may be empty if the base URL is one of Cloudflare's AI
 * gateway, because that URL contains it.
 */
function accountOf({ key, config }: Upstream): { account: string; token: string } {
  const at = key.indexOf('|')
  const { user_id: named } = config
  const account = at >= 0 ? key.slice(0, at).trim() : typeof named === 'string' ? named : ''
  return { account, token: key.slice(at + 1).trim() }
}

/** The URL and headers for a path. Throws GatewayError for a channel without an account. */
function address(upstream: Upstream, path: string): Target {
  const { account, token } = accountOf(upstream)
  const headers = { authorization: `Bearer ${token}` }
  if (upstream.baseUrl.endsWith('/workers-ai')) return { url: `${upstream.baseUrl}${path}`, headers }
  if (account === '') throw new GatewayError('do_request_failed', `the channel's key does not have the form ${keyForm}`)
  return { url: `${upstream.baseUrl}/client/v4/accounts/${encodeURIComponent(account)}/ai${path}`, headers }
}

const chat: ChatEndpoint = {
  dialect: openaiChat,
  lacks: ['audio', 'documents', 'more than one answer'],
  target: (upstream) => address(upstream, '/v1/chat/completions'),
}

const embeddings: ModeEndpoint = { target: (upstream) => address(upstream, '/v1/embeddings') }

/** Image models respond with the image itself, or with an object that contains it. */
const images: ModeEndpoint = {
  target: (upstream, { model }) => address(upstream, `/run/${model}`),
  translation: {
    request({ prompt, size, model: _model, n: _n, user: _user, quality: _quality, response_format: _format, ...rest }) {
      const [, width, height] = /^(\d+)x(\d+)$/.exec(typeof size === 'string' ? size : '') ?? []
      return { prompt, ...(width && height && { width: Number(width), height: Number(height) }), ...rest }
    },
    reply(answer): JsonObject {
      const result = isObject(answer['result']) ? answer['result'] : answer
      if (typeof result['image'] === 'string') return { data: [{ b64_json: result['image'] }] }
      return { error: { message: faultIn(answer) ?? 'the upstream generated no image', type: 'upstream_error' } }
    },
  },
  read(response) {
    const type = response.headers.get('content-type') ?? ''
    return type.startsWith('image/') ? pictureAsJson(response) : response
  },
}

function pictureAsJson(response: Response): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const bytes = Buffer.from(await response.arrayBuffer())
      controller.enqueue(new TextEncoder().encode(JSON.stringify({ image: bytes.toString('base64') })))
      controller.close()
    },
    cancel: (reason) => response.body?.cancel(reason),
  })
  return new Response(body, { status: response.status, headers: { 'content-type': 'application/json' } })
}

/** The text of the first error in a response in Cloudflare's own format. */
function faultIn(body: unknown): string | undefined {
  const errors = isObject(body) ? body['errors'] : undefined
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return isObject(first) && typeof first['message'] === 'string' ? first['message'] : undefined
}

/** The names of the account's models of all kinds (Cloudflare API reference, "Workers AI: Model Search"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const { url, headers } = address(upstream, '/models/search?per_page=1000')
  const list: unknown = (await fetchJson(url, headers))['result']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream returned no list of models')
  return (list as unknown[]).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' ? [each['name']] : [],
  )
}

/** The provider for Cloudflare Workers AI. */
export const cloudflare: Provider = {
  meta: {
    type: 37,
    name: 'cloudflare',
    label: 'Cloudflare',
    color: 'gray',
    defaultBaseUrl: 'https://api.cloudflare.com',
    models: [
      '@cf/openai/gpt-oss-120b',
      '@cf/openai/gpt-oss-20b',
      '@cf/meta/llama-4-scout-17b-16e-instruct',
      '@cf/meta/llama-3.3-70b-instruct-fp8-fast',
      '@cf/meta/llama-3.1-8b-instruct',
      '@cf/meta/llama-3-8b-instruct',
      '@cf/mistralai/mistral-small-3.1-24b-instruct',
      '@cf/qwen/qwq-32b',
      '@cf/google/gemma-3-12b-it',
      '@cf/deepseek-ai/deepseek-r1-distill-qwen-32b',
      '@cf/baai/bge-m3',
      '@cf/baai/bge-base-en-v1.5',
    ],
    keyHint: keyForm,
  },
  modes: { embeddings, images },
  chat: () => [chat],
  asksForStreamUsage: true,
  listModels,
}
