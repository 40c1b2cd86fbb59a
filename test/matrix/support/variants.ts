import { generateKeyPairSync } from 'node:crypto'
import type { CallerDialect } from '../../../contract/relay-paths.ts'
import { type ChatEndpoint, chatEndpointFor, type Provider } from '../../../server/providers/provider.ts'
import type { Feature } from './features.ts'
import type { Setup } from './rig.ts'

/** One configuration of a provider's channel. */
export interface Variant {
  /** Distinguishes several configurations of one provider. Empty if there is only one. */
  note: string
  setup: Omit<Setup, 'type'>
  model: string
  /** Models for features that the usual model lacks. */
  models?: Partial<Record<Feature, string>>
}

type Special = Partial<Variant>

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  type: 'service_account',
  project_id: 'project',
  private_key_id: 'key-id',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  client_email: 'tollgate@project.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
}
const vertexKey = `us-central1|project|${JSON.stringify(account)}`

/** Providers that need keys or model names in a certain format, or that use several dialects. */
const specials: Readonly<Record<string, readonly [Special, ...Special[]]>> = {
  openai: [{}, { note: 'models only in the Responses API', model: 'gpt-5-pro' }],
  azure: [
    { note: 'deployments form' },
    { note: 'v1 form', setup: { other: 'v1' } },
    { note: 'v1 form, models only in the Responses API', setup: { other: 'v1' }, model: 'gpt-5.1-codex-max' },
  ],
  bedrock: [
    { note: 'Claude', setup: { key: 'access-key|secret-key|us-east-1' } },
    { note: 'others', setup: { key: 'api-key|us-east-1' }, model: 'us.amazon.nova-2-lite-v1:0' },
  ],
  vertex: [
    { note: 'Gemini', setup: { key: vertexKey } },
    { note: 'Claude', setup: { key: vertexKey }, model: 'claude-sonnet-4-6' },
    { note: 'open models', setup: { key: vertexKey }, model: 'meta/llama-4-maverick-17b-128e-instruct-maas' },
  ],
  baidu: [
    { note: 'older form', setup: { key: 'api-key|secret-key' } },
    { note: 'newer form', setup: { key: 'bce-v3/key/secret' } },
  ],
  tencent: [
    { note: 'signed', setup: { key: '1234|secret-id|secret-key' }, models: { vision: 'hunyuan-vision' } },
    { note: 'OpenAI form', setup: { key: 'sk-hunyuan' } },
  ],
  ali: [
    { note: 'own form', models: { vision: 'qwen3-vl-plus' } },
    { note: 'compatible mode', setup: { config: '{"compatible":true}' } },
  ],
  zhipu: [
    { note: 'GLM', setup: { key: 'key-id.key-secret' } },
    { note: 'chatglm models', setup: { key: 'key-id.key-secret' }, model: 'chatglm_pro' },
  ],
  xunfei: [{ setup: { key: 'app-id|api-secret|api-key' }, model: 'Spark-4.0-Ultra' }],
  cloudflare: [{ setup: { key: 'account|api-token' } }],
  'ai-proxy-library': [{ setup: { config: '{"library_id":"library"}' } }],
  coze: [{ model: 'bot-7342' }],
  replicate: [{ setup: { basePath: '/v1/models' } }],
  watsonx: [{ setup: { key: 'project|api-key' } }],
}

/**
 * The configurations of a provider in the matrix. Most providers have one configuration, which needs only a base URL.
 */
export function variantsOf({ meta }: Provider): Variant[] {
  const usual = { note: '', setup: {}, model: meta.models[0] ?? 'any-model' }
  return (specials[meta.name] ?? [{}]).map((special) => ({ ...usual, ...special }))
}

/** The endpoint for a caller's conversations in a configuration. Undefined if the provider has none. */
export function endpointOf(
  provider: Provider,
  { setup, model }: Variant,
  caller: CallerDialect,
): ChatEndpoint | undefined {
  const config = JSON.parse(setup.config ?? '{}') as Record<string, unknown>
  // Some providers choose the endpoint by the host of the base URL. The local base URL of a test selects their default
  // endpoint.
  const baseUrl = `http://127.0.0.1${setup.basePath ?? ''}`
  const upstream = { baseUrl, key: setup.key ?? '', other: setup.other ?? '', config }
  return chatEndpointFor(provider.chat(upstream, model), caller)
}
