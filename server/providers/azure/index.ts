import { relayModes } from '../../../contract/relay-modes.ts'
import { openaiChat } from '../../dialects/openai-chat/index.ts'
import { openaiResponses } from '../../dialects/openai-responses/index.ts'
import { answersResponsesOnly, modesOf } from '../openai-compatible/index.ts'
import { openaiModels } from '../openai-compatible/openai-models.ts'
import type { ChatEndpoint, ModeEndpoint, Provider, Target, Upstream } from '../provider.ts'

const defaultApiVersion = '2023-06-01-preview'

/**
 * The URL and headers for Azure OpenAI. In the older form of its API, the path contains the name of the deployment,
 * which is the model's name, and the query contains the API version. In the newer form (API version `v1` or `preview`),
 * the paths are those of OpenAI under `/openai/v1`, and the deployment is named by `model` in the body (Azure OpenAI
 * REST API reference; "API version lifecycle"). In both forms, the key is sent in the header `api-key`.
 */
function address(upstream: Upstream, path: string, model: string): Target {
  const version = text(upstream.config['api_version']) || upstream.other || defaultApiVersion
  const headers = { 'api-key': upstream.key }
  const task = path.replace(/^\/v1\//, '')
  if (isNewForm(upstream, version)) {
    const base = upstream.baseUrl.replace(/\/openai(?:\/v1)?$/, '')
    const query = version === 'preview' ? '?api-version=preview' : ''
    return { url: `${base}/openai/v1/${task}${query}`, headers }
  }
  const name = encodeURIComponent(deployment(upstream, model))
  // The URL of Cloudflare's AI gateway ends with the name of the Azure resource, and the deployment must follow
  // directly.
  const base = upstream.baseUrl.startsWith('https://gateway.ai.cloudflare.com')
    ? upstream.baseUrl
    : `${upstream.baseUrl.replace(/\/openai$/, '')}/openai/deployments`
  return {
    url: `${base}/${name}/${task}?api-version=${encodeURIComponent(version)}`,
    headers,
  }
}

/**
 * The URL for realtime sessions. In both forms of the API, the query contains the deployment (Azure OpenAI, "GPT
 * Realtime API via WebSockets").
 */
function realtimeAddress(upstream: Upstream, model: string): Target {
  const version = text(upstream.config['api_version']) || upstream.other || defaultApiVersion
  const headers = { 'api-key': upstream.key }
  const name = encodeURIComponent(deployment(upstream, model))
  const base = upstream.baseUrl.replace(/\/openai(?:\/v1)?$/, '')
  if (isNewForm(upstream, version)) return { url: `${base}/openai/v1/realtime?model=${name}`, headers }
  return {
    url: `${base}/openai/realtime?api-version=${encodeURIComponent(version)}&deployment=${name}`,
    headers,
  }
}

function isNewForm({ baseUrl }: Upstream, version: string): boolean {
  return version === 'v1' || version === 'preview' || /\/openai\/v1$/.test(baseUrl)
}

const endpoint: ModeEndpoint = { target: (upstream, call) => address(upstream, call.path, call.model) }

const chat: ChatEndpoint = {
  dialect: openaiChat,
  options: { freeformTools: true, wantsNewLimit: true, refusesMetadata: 'unstored' },
  takesSystemAnywhere: true,
  target: (upstream, call) => address(upstream, '/v1/chat/completions', call.model),
}

const responses: ChatEndpoint = {
  dialect: openaiResponses,
  takesSystemAnywhere: true,
  target: (upstream, call) => address(upstream, '/v1/responses', call.model),
  compactTarget: (upstream, call) => address(upstream, '/v1/responses/compact', call.model),
}

/**
 * The name of the deployment for a model. Azure itself writes gpt-3.5 as gpt-35. one-api removed the dots from every
 * name, and a channel can be set to do the same.
 */
function deployment({ config }: Upstream, model: string): string {
  return config['strip_deployment_dots'] === true || model.startsWith('gpt-3.5') ? model.replaceAll('.', '') : model
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export const azure: Provider = {
  meta: {
    type: 3,
    name: 'azure',
    label: 'Azure OpenAI',
    color: 'olive',
    defaultBaseUrl: '',
    models: openaiModels,
    keyHint: 'API key of the Azure resource',
    otherDefault: defaultApiVersion,
    otherLabel: 'API version; v1 for the newer form',
  },
  modes: modesOf(
    relayModes.filter((mode) => mode !== 'moderations' && mode !== 'image-variations'),
    endpoint,
  ),
  // In the older form of the API, deployments have no Responses API.
  chat(upstream, model) {
    if (!isNewForm(upstream, text(upstream.config['api_version']) || upstream.other)) return [chat]
    const endpoints = answersResponsesOnly(model) ? [responses] : [chat, responses]
    const name = deployment(upstream, model)
    return name === model ? endpoints : endpoints.map((it) => ({ ...it, finish: (body) => ({ ...body, model: name }) }))
  },
  realtime: realtimeAddress,
  asksForStreamUsage: true,
}
