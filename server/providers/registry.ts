import { aiProxyLibraryProvider } from './aiproxy-library/index.ts'
import { anthropic, claudeCompatible } from './anthropic/index.ts'
import { azure } from './azure/index.ts'
import { bedrock } from './bedrock/index.ts'
import { cloudflare } from './cloudflare/index.ts'
import { cohere } from './cohere/index.ts'
import { coze } from './coze/index.ts'
import { dashscopeProvider } from './dashscope/index.ts'
import { deepl } from './deepl/index.ts'
import { ernieProvider } from './ernie/index.ts'
import { gemini } from './gemini/index.ts'
import { hunyuanProvider } from './hunyuan/index.ts'
import { ollama } from './ollama/index.ts'
import {
  aiProxyBalance,
  creditGrants,
  dashboardBalance,
  openaiSbBalance,
  openRouterBalance,
} from './openai-compatible/balance.ts'
import { openaiCompatible } from './openai-compatible/index.ts'
import { openaiModels } from './openai-compatible/openai-models.ts'
import { presets } from './openai-compatible/presets.ts'
import { palmProvider } from './palm/index.ts'
import type { Provider } from './provider.ts'
import { proxy } from './proxy/index.ts'
import { replicate } from './replicate/index.ts'
import { sparkProvider } from './spark/index.ts'
import { vertex } from './vertex/index.ts'
import { watsonx } from './watsonx/index.ts'
import { zhipu } from './zhipu/index.ts'

/** Creates the provider for a service that resells the OpenAI API at its own URL. */
const relay = (
  type: number,
  name: string,
  label: string,
  color: string,
  defaultBaseUrl: string,
  balance?: Provider['balance'],
) =>
  openaiCompatible({
    type,
    name,
    label,
    color,
    defaultBaseUrl,
    models: openaiModels,
    also: ['responses'],
    realtime: true,
    takesSystemAnywhere: true,
    ...(balance && { balance }),
  })

/** Every provider, in the order in which the channel form shows them. */
export const providers: readonly Provider[] = [
  openaiCompatible({
    type: 1,
    name: 'openai',
    label: 'OpenAI',
    color: 'green',
    defaultBaseUrl: 'https://api.openai.com',
    models: openaiModels,
    balance: dashboardBalance,
    chat: { options: { freeformTools: true, wantsNewLimit: true, refusesMetadata: 'unstored' } },
    takesSystemAnywhere: true,
    also: ['responses'],
    compacts: true,
    forwardsCodex: true,
    realtime: true,
  }),
  azure,
  openaiCompatible({
    type: 19,
    name: 'ai360',
    label: '360',
    color: 'blue',
    defaultBaseUrl: 'https://ai.360.cn',
    models: ['360GPT_S2_V9', '360GPT_S2_V9.4', 'embedding-bert-512-v1', 'embedding_s1_v1', 'semantic_similarity_s1_v1'],
  }),
  openaiCompatible({
    type: 8,
    name: 'custom',
    label: 'Custom',
    color: 'pink',
    defaultBaseUrl: '',
    realtime: true,
    balance: dashboardBalance,
  }),
  openaiCompatible({
    type: 20,
    name: 'openrouter',
    label: 'OpenRouter',
    color: 'black',
    defaultBaseUrl: 'https://openrouter.ai/api',
    headers: { 'x-title': 'Tollgate' },
    chat: { options: { cacheControl: true, reasoningField: 'reasoning_details' } },
    takesSystemAnywhere: true,
    balance: openRouterBalance,
  }),
  relay(2, 'api2d', 'API2D', 'blue', 'https://oa.api2d.net'),
  relay(5, 'openai-sb', 'OpenAI-SB', 'brown', 'https://api.openai-sb.com', openaiSbBalance),
  relay(7, 'ohmygpt', 'OhMyGPT', 'purple', 'https://api.ohmygpt.com'),
  relay(10, 'ai-proxy', 'AI Proxy', 'purple', 'https://api.aiproxy.io', aiProxyBalance),
  relay(4, 'closeai', 'CloseAI', 'teal', 'https://api.closeai-proxy.xyz', creditGrants('total_available')),
  relay(6, 'openai-max', 'OpenAI Max', 'violet', 'https://api.openaimax.com'),
  relay(9, 'ai-ls', 'AI.LS', 'yellow', 'https://api.caipacity.com'),
  relay(12, 'api2gpt', 'API2GPT', 'blue', 'https://api.api2gpt.com', creditGrants('total_remaining')),
  anthropic,
  claudeCompatible,
  gemini,
  vertex,
  bedrock,
  cohere,
  ollama,
  cloudflare,
  coze,
  replicate,
  deepl,
  watsonx,
  relay(13, 'aigc2d', 'AIGC2D', 'purple', 'https://api.aigc2d.com', creditGrants('total_available')),
  palmProvider,
  ernieProvider,
  zhipu,
  dashscopeProvider,
  sparkProvider,
  hunyuanProvider,
  aiProxyLibraryProvider,
  proxy,
  ...presets,
]

const byType = new Map(providers.map((provider) => [provider.meta.type, provider]))

/** The provider of a channel type. Undefined for an unknown number. */
export function providerOf(type: number): Provider | undefined {
  return byType.get(type)
}
