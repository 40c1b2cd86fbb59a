import type { Usage } from '../../../contract/usage.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Names of tiers at the usual price. `geo-not_available` is the region that older Claude models report, because no
 * region can be chosen for them.
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

/**
 * The gateway's name for a tier, in lower case. Google's names may begin with the name of their enum (`SERVICE_TIER_`),
 * which is removed.
 */
function plainName(tier: string): string {
  return tier.toLowerCase().replace(/^service_tier_/, '')
}

/** True for a tier at the usual price. */
export function isUsualTier(tier: string): boolean {
  return usual.has(plainName(tier))
}

/**
 * The first of the requested tiers whose price differs from the usual one; undefined if there is none. Each field is a
 * tier of OpenAI or Google, or Anthropic's `speed`.
 */
export function requestedTier(...fields: unknown[]): string | undefined {
  const tier = fields.find((value): value is string => typeof value === 'string' && !isUsualTier(value))
  return tier === undefined ? undefined : plainName(tier)
}

/** The tier requested in a dialect other than OpenAI's chat, including the region that should serve the request. */
export function tierOf({ service_tier: tier, serviceTier, speed, inference_geo: geo }: JsonObject): string | undefined {
  // Bedrock puts the tier into an object.
  const requested = requestedTier(speed, tier, isObject(serviceTier) ? serviceTier['type'] : serviceTier)
  const region = regionIn(geo)
  return region === undefined || isUsualTier(region) ? requested : tierAt(requested, region)
}

/**
 * The region in Anthropic's `inference_geo`, as a tier such as `geo-us`. In the option `ServiceTierRatio`, too, regions
 * are tiers. A region can be combined with any other tier.
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

/**
 * The combined name of an answer's tier and region. A missing tier becomes `default`, and a missing region becomes
 * `geo-global`.
 */
export function orUsual(name = ''): string {
  const { tier = 'default', region = 'geo-global' } = partsOf(name)
  return `${tier}+${region}`
}

/**
 * The field `service_tier` of an answer in OpenAI's dialects, without the region. In these dialects, the field is next
 * to the usage and not within it. Empty if the tier is unknown.
 */
export function tierOut(usage: Usage | undefined): { service_tier?: string } {
  const tier = usage?.tier === undefined ? undefined : partsOf(usage.tier).tier
  return tier === undefined ? {} : { service_tier: tier }
}
