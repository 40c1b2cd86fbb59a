import { relayModes } from '../../../contract/relay-modes.ts'
import { modesOf } from '../openai-compatible/index.ts'
import { openaiModels } from '../openai-compatible/openai-models.ts'
import type { Endpoint, Provider } from '../provider.ts'

const defaultApiVersion = '2023-06-01-preview'

/**
 * Azure OpenAI: the deployment, named like the model, stands in the path, the API version in the query, the key in a
 * header of its own (Azure OpenAI REST API reference).
 */
const endpoint: Endpoint = {
  dialect: 'openai',
  target(upstream, call) {
    const version = text(upstream.config['api_version']) || upstream.other || defaultApiVersion
    const name = encodeURIComponent(deployment(call.model, upstream.config['strip_deployment_dots'] === true))
    const task = call.path.replace(/^\/v1\//, '')
    // Cloudflare's AI gateway carries the resource in its own address and wants the deployment right behind it.
    const prefix = upstream.baseUrl.startsWith('https://gateway.ai.cloudflare.com') ? '' : '/openai/deployments'
    return {
      url: `${upstream.baseUrl}${prefix}/${name}/${task}?api-version=${encodeURIComponent(version)}`,
      headers: { 'api-key': upstream.key },
    }
  },
}

/** Azure itself calls gpt-3.5 gpt-35; one-api took the dots out of every name, which a channel can ask for. */
function deployment(model: string, stripDots: boolean): string {
  return stripDots || model.startsWith('gpt-3.5') ? model.replaceAll('.', '') : model
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
    otherLabel: 'API version',
  },
  modes: modesOf(
    relayModes.filter((mode) => mode !== 'moderations' && mode !== 'image-variations'),
    endpoint,
  ),
  asksForStreamUsage: true,
}
