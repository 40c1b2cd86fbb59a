import { type RelayMode, relayModes } from '../../../contract/relay-modes.ts'
import type { Endpoint, Provider, ProviderMeta } from '../provider.ts'

interface Options extends Omit<ProviderMeta, 'keyHint' | 'models'> {
  models?: readonly string[]
  keyHint?: string
  /** Kinds of calls served; default all. */
  only?: readonly RelayMode[]
  /** Headers beside the key. */
  headers?: Readonly<Record<string, string>>
  asksForStreamUsage?: boolean
}

/** A provider that speaks the OpenAI API: bearer key, OpenAI's paths below the base address. */
export function openaiCompatible(options: Options): Provider {
  const { only = relayModes, headers = {}, asksForStreamUsage = true, models = [], keyHint = 'sk-…', ...meta } = options
  const endpoint: Endpoint = {
    dialect: 'openai',
    target: (upstream, call) => ({
      url: joinPath(upstream.baseUrl, call.path),
      headers: { ...headers, authorization: `Bearer ${upstream.key}` },
    }),
  }
  return { meta: { ...meta, models, keyHint }, modes: modesOf(only, endpoint), asksForStreamUsage }
}

/** The same endpoint for several kinds of calls. */
export function modesOf(modes: readonly RelayMode[], endpoint: Endpoint): Provider['modes'] {
  return Object.fromEntries(modes.map((mode) => [mode, endpoint]))
}

/**
 * Base address + API path. A base that already ends with the version (`…/v1`) is not given it twice, and one behind
 * Cloudflare's AI gateway has no version in its path at all.
 */
function joinPath(baseUrl: string, path: string): string {
  const hasOwnVersion = baseUrl.startsWith('https://gateway.ai.cloudflare.com') || /\/v\d+$/.test(baseUrl)
  return hasOwnVersion ? baseUrl + path.replace(/^\/v1/, '') : baseUrl + path
}
