import { isObject, tryParse } from '../../lib/json.ts'

/** What an error response shows about the endpoint to which the request was sent. */
export type AddressVerdict =
  /** The server has no such endpoint. */
  | 'missing'
  /** Either the endpoint is missing or it does not accept this call. The response does not show which. */
  | 'unsure'
  /** The endpoint exists. Something else was not found, for example the model. */
  | 'there'

/** The hosts, including regional ones, of services that have every endpoint that the gateway calls. */
const official = /(?:^|\.)(?:openai\.com|anthropic\.com|openai\.azure\.com)$/

/** True if a base URL belongs to a service that has every endpoint that the gateway calls. */
export function isOfficial(baseUrl: string, defaultBaseUrl: string): boolean {
  const host = hostOf(baseUrl)
  return host !== '' && (official.test(host) || host === hostOf(defaultBaseUrl))
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}

const speaksOfAddress =
  /\b(?:url|uri|routes?|endpoints?|path|page|method)\b|\b(?:cannot|can't) (?:post|get)\b|not[ _]implemented|no handler|没找到对象/i
/** The complete error text that some servers return, whatever was requested. */
const bare = /^(?:404[: ]*)?(?:(?:the )?(?:requested )?(?:resource|file|page|url) )?(?:was )?not[ _]found[.!]?$/i
const speaksOfThing =
  /\b(?:model|deployment|item|response|conversation|prompt|container|vector store|assistant|thread|tool|organization|project)s?\b|\bid\b|模型/i

/**
 * Decides from an error's text whether the endpoint is missing. The status must be one with which services report a
 * missing endpoint.
 */
export function addressVerdict(status: number, text: string, path: string): AddressVerdict {
  if (status === 405 || status === 501) return 'missing'
  const body = tryParse(text)
  if (!isObject(body)) return 'missing'
  const texts = textsOf(body)
  if (texts.length === 0 || texts.some((each) => bare.test(each.trim()))) return 'missing'
  const all = texts.join(' ')
  if (all.includes(path)) return speaksOfThing.test(all.replaceAll(path, '')) ? 'unsure' : 'missing'
  if (speaksOfThing.test(all)) return speaksOfAddress.test(all) ? 'unsure' : 'there'
  return speaksOfAddress.test(all) ? 'missing' : 'there'
}

/**
 * All texts in an error, at any depth. Numbers and field names are ignored, because they carry no information about the
 * endpoint.
 */
function textsOf(body: object): string[] {
  return Object.values(body).flatMap((value: unknown) => {
    if (typeof value === 'string') return value === '' ? [] : [value]
    return typeof value === 'object' && value !== null ? textsOf(value) : []
  })
}
