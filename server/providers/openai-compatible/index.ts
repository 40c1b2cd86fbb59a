import { type RelayMode, relayModes } from '../../../contract/relay-modes.ts'
import { GatewayError } from '../../errors.ts'
import { isObject } from '../../lib/json.ts'
import type { Endpoint, FetchJson, Provider, ProviderMeta, Upstream } from '../provider.ts'

interface Options extends Omit<ProviderMeta, 'keyHint' | 'models'> {
  models?: readonly string[]
  keyHint?: string
  /** Kinds of calls served; default all. */
  only?: readonly RelayMode[]
  /** Headers beside the key. */
  headers?: Readonly<Record<string, string>>
  asksForStreamUsage?: boolean
  balance?: Provider['balance']
}

/** A provider that speaks the OpenAI API: bearer key, OpenAI's paths below the base address. */
export function openaiCompatible(options: Options): Provider {
  const { only = relayModes, headers = {}, asksForStreamUsage = true, models = [], keyHint = 'sk-…', ...rest } = options
  const { balance, ...meta } = rest
  const endpoint: Endpoint = {
    dialect: 'openai',
    target: (upstream, call) => ({
      url: joinPath(upstream.baseUrl, call.path),
      headers: { ...headers, authorization: `Bearer ${upstream.key}` },
    }),
  }
  return {
    meta: { ...meta, models, keyHint },
    modes: modesOf(only, endpoint),
    asksForStreamUsage,
    listModels,
    ...(balance && { balance }),
  }
}

/** The names of `GET /v1/models` (OpenAI API reference, "List models"). */
async function listModels(upstream: Upstream, fetchJson: FetchJson): Promise<string[]> {
  const answer = await fetchJson(joinPath(upstream.baseUrl, '/v1/models'), { authorization: `Bearer ${upstream.key}` })
  const list: unknown = answer['data']
  if (!Array.isArray(list)) throw new GatewayError('bad_response_body', 'the upstream answered with no list of models')
  const names = list.map((each: unknown) => (isObject(each) ? each['id'] : undefined))
  return names.filter((name): name is string => typeof name === 'string' && name !== '')
}

/** The same endpoint for several kinds of calls. */
export function modesOf(modes: readonly RelayMode[], endpoint: Endpoint): Provider['modes'] {
  return Object.fromEntries(modes.map((mode) => [mode, endpoint]))
}

/**
 * Base address + API path. A base that already ends with the version (`…/v1`, `…/v1beta/openai`) is not given it
 * twice, and one behind Cloudflare's AI gateway has no version in its path at all.
 */
export function joinPath(baseUrl: string, path: string): string {
  const hasOwnVersion =
    baseUrl.startsWith('https://gateway.ai.cloudflare.com') || /\/v\d+(?:alpha|beta)?\d*(?:\/openai)?$/.test(baseUrl)
  return hasOwnVersion ? baseUrl + path.replace(/^\/v1/, '') : baseUrl + path
}
