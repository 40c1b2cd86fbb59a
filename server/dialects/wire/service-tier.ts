import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Names of the default tier. They include the value with which older Claude models report that no region can be chosen.
 */
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

/** Our name for a tier. Google's names may begin with the name of their enum. */
function plainName(tier: string): string {
  return tier.toLowerCase().replace(/^service_tier_/, '')
}

/** True for a tier at the usual price. */
export function isUsualTier(tier: string): boolean {
  return usual.has(plainName(tier))
}

/**
 * The tier that one of the fields requests, if its price differs from the usual one. The fields hold OpenAI's or
 * Google's tier, or Anthropic's speed.
 */
export function requestedTier(...fields: unknown[]): string | undefined {
  const tier = fields.find((value): value is string => typeof value === 'string' && !isUsualTier(value))
  return tier === undefined ? undefined : plainName(tier)
}

/** The tier requested in a dialect other than OpenAI's chat, including the region that should serve the request. */
export function tierOf({ service_tier: tier, serviceTier, speed, inference_geo: geo }: JsonObject): string | undefined {
  // Bedrock has the tier in an object.
  const requested = requestedTier(speed, tier, isObject(serviceTier) ? serviceTier['type'] : serviceTier)
  const region = regionIn(geo)
  return region === undefined || isUsualTier(region) ? requested : tierAt(requested, region)
}

/**
 * The region in Anthropic's `inference_geo`. As in `ServiceTierRatio`, a region is a tier that can be combined with any
 * other.
 */
export function regionIn(geo: unknown): string | undefined {
  return typeof geo === 'string' ? `geo-${geo.toLowerCase()}` : undefined
}

/** The value of `inference_geo` for a tier name that includes a region; undefined if it includes none. */
export function geoOf(name = ''): string | undefined {
  return partsOf(name).region?.slice('geo-'.length)
}

/**
 * The combined name of a tier and a region, such as `fast+geo-us`. If only one of them is given, the name contains only
 * that one.
 */
export function tierAt(tier: string | undefined, region: string | undefined): string | undefined {
  return tier === undefined || region === undefined ? (tier ?? region) : `${tier}+${region}`
}

/** The tier and the region in a combined name, such as `fast+geo-us`. */
export function partsOf(name: string): { tier?: string | undefined; region?: string | undefined } {
  const parts = /^(?:(.*)\+)?(geo-[^+]*)$/.exec(name)
  return parts ? { tier: parts[1], region: parts[2] } : { tier: name }
}

/** The tier and the region of an answer as a name, with defaults if the answer does not report them. */
export function orUsual(name = ''): string {
  const { tier = 'default', region = 'geo-global' } = partsOf(name)
  return `${tier}+${region}`
}

/** The tier of an answer in OpenAI's dialects, in which the tier is a field next to the usage. */
export function tierOut(usage: Usage | undefined): { service_tier?: string } {
  const tier = usage?.tier === undefined ? undefined : partsOf(usage.tier).tier
  return tier === undefined ? {} : { service_tier: tier }
}
