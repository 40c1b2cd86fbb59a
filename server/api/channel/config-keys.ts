import { isObject, tryParse } from '../../lib/json.ts'

/** The fields of a body that concern a channel's key. */
interface KeyFields {
  key?: string | undefined
  config?: string | null | undefined
}

const secretFields = ['ak', 'sk', 'vertex_ai_project_id', 'vertex_ai_adc'] as const

/**
 * Moves the keys of Bedrock and Vertex in a request body to the key field. One-api's console writes them into `config`,
 * which everybody who sees the channel may read. If the body has no key, the values from `config` become the key. They
 * are removed from `config` in both cases.
 */
export function keysFromConfig<B extends KeyFields>(body: B): B {
  const config = tryParse(body.config ?? '')
  if (!isObject(config) || !secretFields.some((name) => name in config)) return body
  const rest = Object.entries(config).filter(([name]) => !secretFields.some((secret) => secret === name))
  const key = body.key?.trim() ? body.key : keyOf(config)
  return { ...body, ...(key !== undefined && { key }), config: JSON.stringify(Object.fromEntries(rest)) }
}

/** The key, with its parts joined as in one-api's console. Undefined if a part is missing. */
function keyOf(config: Readonly<Record<string, unknown>>): string | undefined {
  const text = (name: string) => (typeof config[name] === 'string' ? config[name].trim() : '')
  const aws = [text('ak'), text('sk'), text('region')]
  if (aws.every((part) => part !== '')) return aws.join('|')
  const account = tryParse(text('vertex_ai_adc'))
  const google = [text('region'), text('vertex_ai_project_id')]
  // The JSON file is written on one line, because each line of the key field is a key.
  return isObject(account) && google.every((part) => part !== '')
    ? [...google, JSON.stringify(account)].join('|')
    : undefined
}
