import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/** Names of the tier that everybody has who asks for none. Older Claude models say that there are no places to choose from. */
const usual: ReadonlySet<string> = new Set([
  '',
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'geo-',
  'geo-global',
  'geo-not_available',
])

/** A tier as it is known here. Google's names may stand with the name of their kind before them. */
function plainName(tier: string): string {
  return tier.toLowerCase().replace(/^service_tier_/, '')
}

/** True for a tier at the usual price. */
export function isUsualTier(tier: string): boolean {
  return usual.has(plainName(tier))
}

/** The dearer or cheaper tier that a field asks for: OpenAI's and Google's tier, Anthropic's speed. */
export function askedTier(...fields: unknown[]): string | undefined {
  const asked = fields.find((value): value is string => typeof value === 'string' && !isUsualTier(value))
  return asked === undefined ? undefined : plainName(asked)
}

/** The same of a request in a dialect other than OpenAI's chat, and the place where it is to be served. */
export function tierOf({ service_tier: tier, serviceTier, speed, inference_geo: geo }: JsonObject): string | undefined {
  // Bedrock has it in an object.
  const asked = askedTier(speed, tier, isObject(serviceTier) ? serviceTier['type'] : serviceTier)
  const place = placeIn(geo)
  return place === undefined || isUsualTier(place) ? asked : tierAt(asked, place)
}

/** The place that Anthropic's `inference_geo` names, as `ServiceTierRatio` has it: a tier that goes with any other. */
export function placeIn(geo: unknown): string | undefined {
  return typeof geo === 'string' ? `geo-${geo.toLowerCase()}` : undefined
}

/** What `inference_geo` said, of a name with a place in it. */
export function geoOf(name = ''): string | undefined {
  return partsOf(name).place?.slice('geo-'.length)
}

/** A tier and a place in one name: `fast+geo-us`, or either alone. */
export function tierAt(tier: string | undefined, place: string | undefined): string | undefined {
  return tier === undefined || place === undefined ? (tier ?? place) : `${tier}+${place}`
}

/** The tier and the place of such a name. */
export function partsOf(name: string): { tier?: string | undefined; place?: string | undefined } {
  const parts = /^(?:(.*)\+)?(geo-[^+]*)$/.exec(name)
  return parts ? { tier: parts[1], place: parts[2] } : { tier: name }
}

/** What an answer names, and the usual for what it does not. */
export function orUsual(name = ''): string {
  const { tier = 'default', place = 'geo-global' } = partsOf(name)
  return `${tier}+${place}`
}

/** What an answer says of its tier in the dialects of OpenAI, where it stands beside the usage. */
export function tierOut(usage: Usage | undefined): { service_tier?: string } {
  const tier = usage?.tier === undefined ? undefined : partsOf(usage.tier).tier
  return tier === undefined ? {} : { service_tier: tier }
}
