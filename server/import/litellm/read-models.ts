import { channelStatus } from '../../../contract/statuses.ts'
import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import { integer, integerOf, text, textOf } from '../fields.ts'
import type { LocalRow } from '../sources/local-sqlite.ts'
import { type Deployment, deployedFields } from './deployment.ts'
import { numberOf } from './ids.ts'
import { channelTypes, providerOfModel, worksWithoutKey } from './providers.ts'
import type { Reading } from './reading.ts'

/** Parameters of a deployment that are imported, or that do not affect a call. The others are leftovers. */
const known: ReadonlySet<string> = new Set([
  ...['model', 'api_key', 'api_base', 'base_url', 'api_version', 'organization', 'weight', 'order', 'extra_headers'],
  ...['custom_llm_provider', 'litellm_credential_name', 'aws_access_key_id', 'aws_secret_access_key'],
  ...['aws_region_name', 'region_name', 'vertex_project', 'vertex_location', 'vertex_credentials', 'project_id'],
  ...['input_cost_per_token', 'output_cost_per_token', 'cache_read_input_token_cost', 'use_in_pass_through'],
  ...['cache_creation_input_token_cost', 'merge_reasoning_content_in_choices', 'use_litellm_proxy', 'timeout'],
])

/** A LiteLLM deployment converted to a channel, with the data that determines its price. */
export interface ReadModel {
  channel: LocalRow
  asked: string
  sent: string
  baseModel: string
  costs: JsonObject
}

/** The deployments of the database and of the configuration file, each as one channel. */
export async function readModels(reading: Reading): Promise<ReadModel[]> {
  const { later } = reading
  const rows = await reading.rows('LiteLLM_ProxyModelTable', ['created_at'])
  const credentials = new Map(
    (await reading.rows('LiteLLM_CredentialsTable', [])).map((row) => [text(row, 'credential_name'), row]),
  )
  const stored = rows.map(
    (row): Deployment => ({
      id: text(row, 'model_id'),
      name: text(row, 'model_name'),
      params: objectOf(row['litellm_params']),
      info: objectOf(row['model_info']),
      createdAt: integer(row, 'created_at'),
      isBlocked: row['blocked'] === true,
    }),
  )
  const written = (Array.isArray(reading.config['model_list']) ? reading.config['model_list'] : []).map(
    (entry, at): Deployment => {
      const params = objectOf(isObject(entry) ? entry['litellm_params'] : undefined)
      const info = objectOf(isObject(entry) ? entry['model_info'] : undefined)
      const name = isObject(entry) ? textOf(entry['model_name']) : ''
      const id =
        textOf(info['id']) || JSON.stringify([name, params['model'], params['api_base'], params['api_key'], at])
      return { id, name, params, info, createdAt: 0, isBlocked: false }
    },
  )
  const credentialOf = (name: string) => objectOf(credentials.get(name)?.['credential_values'])
  const models: ReadModel[] = []
  const seen = new Set<string>()
  for (const deployment of [...stored, ...written]) {
    const model = modelOf(reading, deployment, credentialOf)
    if (model && seen.has(deployment.id))
      later.add('channels', 'The deployment is listed twice. One of them is imported.', deployment.name)
    else if (model) models.push(model)
    seen.add(deployment.id)
  }
  return models
}

const objectOf = (value: unknown): JsonObject => {
  const parsed = typeof value === 'string' ? tryParse(value) : value
  return isObject(parsed) ? parsed : {}
}

function modelOf(
  reading: Reading,
  deployment: Deployment,
  credentialOf: (name: string) => JsonObject,
): ReadModel | undefined {
  const { later } = reading
  const { name, info } = deployment
  const fields = deployedFields(reading, deployment, credentialOf)
  const model = textOf(fields['model'])
  const { provider, type, sent } = providerOfModel(model, textOf(fields['custom_llm_provider']))
  const example = `${name} (${model})`
  if (name === '' || model === '' || name.includes('*') || sent.includes('*') || name.includes(',')) {
    later.leave(
      { kind: 'channel', id: example, reason: 'pattern', data: { model_name: name, litellm_params: fields } },
      'The deployment has a name pattern or no model name, which has no counterpart. Create a channel with the names of the models.',
    )
    return undefined
  }
  if (type === 0)
    later.add('channels', `The provider ${provider} has no counterpart. The channel is disabled.`, example)
  for (const [key, value] of Object.entries(fields))
    if (!known.has(key) && value !== null && value !== '')
      later.leave(
        { kind: 'channel', id: example, reason: key, data: { model_name: name, [key]: value } },
        `The parameter ${key} of the deployment has no counterpart.`,
      )
  const key = keyOf(fields, type)
  const mapping = name === sent ? '' : JSON.stringify({ [name]: sent })
  return {
    asked: name,
    sent,
    baseModel: textOf(info['base_model']),
    costs: { ...info, ...fields },
    channel: {
      id: numberOf('channel', deployment.id),
      type,
      key,
      status: deployment.isBlocked || type === 0 || key === '' ? channelStatus.disabled : channelStatus.enabled,
      name: `${name} (${provider})`,
      weight: integerOf(fields['weight']),
      created_time: deployment.createdAt,
      base_url: textOf(fields['api_base'] || fields['base_url']).replace(/\/+$/, ''),
      models: name,
      group: 'default',
      used_quota: 0,
      model_mapping: mapping,
      // LiteLLM prefers the smallest `order`. Tollgate prefers the largest `priority`.
      priority: -integerOf(fields['order']),
      config:
        type === channelTypes.azure && fields['api_version']
          ? JSON.stringify({ api_version: textOf(fields['api_version']) })
          : '',
      open_ai_organization: textOf(fields['organization']),
      header_override: isObject(fields['extra_headers']) ? JSON.stringify(fields['extra_headers']) : '',
    },
  }
}

/** The key of a channel in the form that its type requires; '' if the deployment has none. */
function keyOf(fields: JsonObject, type: number): string {
  const of = (name: string) => textOf(fields[name])
  if (type === channelTypes.bedrock) {
    const region = of('aws_region_name') || of('region_name')
    if (of('aws_secret_access_key') !== '')
      return [of('aws_access_key_id'), of('aws_secret_access_key'), region].join('|')
    return of('api_key') === '' ? '' : [of('api_key'), region].join('|')
  }
  if (type === channelTypes.vertex) {
    const given = fields['vertex_credentials']
    const account = typeof given === 'string' ? tryParse(given) : given
    if (!isObject(account)) return ''
    const project = of('vertex_project') || textOf(account['project_id'])
    return [of('vertex_location') || 'global', project, JSON.stringify(account)].join('|')
  }
  if (type === channelTypes.watsonx && of('project_id') !== '') return `${of('project_id')}|${of('api_key')}`
  return of('api_key') || (worksWithoutKey.has(type) ? 'none' : '')
}
