import { looseText } from '../../dialects/neutral/fields.ts'
import { GatewayError } from '../../errors.ts'
import type { Provider, Signing, Target, Upstream, UpstreamCall } from '../provider.ts'
import { watsonxChat } from './dialect.ts'

const keyForm = 'ProjectId|ApiKey'
/** The date of the API version for which this code was written. Every request must contain a version. */
const version = '2025-02-06'
const usualLifeSeconds = 3600

const partsOf = ({ key }: Upstream) => {
  const at = key.indexOf('|')
  return { project: key.slice(0, at), apiKey: key.slice(at + 1) }
}

/**
 * The URL that issues tokens. IBM Cloud has one such URL for all regions. If an admin set a base URL, it is used for
 * tokens, too.
 */
function tokenUrl({ baseUrl }: Upstream): string {
  const isIbm = /^https:\/\/[a-z0-9-]+\.ml\.cloud\.ibm\.com$/.test(baseUrl)
  return `${isIbm ? 'https://iam.cloud.ibm.com' : baseUrl}/identity/token`
}

/**
 * The token for an API key, which is requested once an hour (IBM Cloud IAM API reference, "Create an IAM access
 * token").
 */
function accessToken(upstream: Upstream, { tokens, fetchJson, nowMs }: Signing): Promise<string> {
  const { apiKey } = partsOf(upstream)
  const url = tokenUrl(upstream)
  return tokens.get(`watsonx ${url} ${apiKey}`, async () => {
    const body = new URLSearchParams({
      grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
      apikey: apiKey,
    }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await fetchJson(url, headers, { body }).catch((error: unknown) => {
      const isRefusal = error instanceof GatewayError && /: 40[013]$/.test(error.message)
      throw isRefusal ? refusedKey() : error
    })
    const value = looseText(answer['access_token'])
    if (value === '') throw refusedKey()
    const seconds = answer['expires_in']
    return { value, expiresAtMs: nowMs + (typeof seconds === 'number' ? seconds : usualLifeSeconds) * 1000 }
  })
}

function refusedKey(): GatewayError {
  const message = "IBM Cloud's token service rejected the key of this channel"
  return new GatewayError('bad_response_status_code', message, { status: 401 })
}

async function target(upstream: Upstream, { stream }: UpstreamCall, signing: Signing): Promise<Target> {
  const token = await accessToken(upstream, signing)
  return {
    url: `${upstream.baseUrl}/ml/v1/text/${stream ? 'chat_stream' : 'chat'}?version=${version}`,
    headers: { authorization: `Bearer ${token}` },
  }
}

/** The provider for IBM watsonx.ai. */
export const watsonx: Provider = {
  meta: {
    type: 61,
    name: 'watsonx',
    label: 'IBM watsonx.ai',
    color: 'blue',
    defaultBaseUrl: 'https://us-south.ml.cloud.ibm.com',
    models: [
      'ibm/granite-4-h-small',
      'meta-llama/llama-3-3-70b-instruct',
      'meta-llama/llama-4-maverick-17b-128e-instruct-fp8',
      'mistralai/mistral-medium-2505',
      'openai/gpt-oss-120b',
    ],
    keyHint: keyForm,
  },
  keyFault: (key) => (/^[^|\s]+\|[^|\s]+$/.test(key) ? undefined : `The key must be ${keyForm}.`),
  modes: {},
  chat: (upstream) => [
    {
      dialect: watsonxChat,
      lacks: ['audio', 'documents'],
      target,
      finish: (body) => ({ ...body, project_id: partsOf(upstream).project }),
    },
  ],
  asksForStreamUsage: true,
}
