import type { Usage } from '../../contract/usage.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

/** Names of the tier that everybody has who asks for none. */
const usual: ReadonlySet<string> = new Set([
  '',
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
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

/** The same of a request in a dialect other than OpenAI's chat. */
export function tierOf({ service_tier: tier, serviceTier, speed }: JsonObject): string | undefined {
  // Bedrock has it in an object.
  return askedTier(speed, tier, isObject(serviceTier) ? serviceTier['type'] : serviceTier)
}

/** What an answer says of its tier in the dialects of OpenAI, where it stands beside the usage. */
export function tierOut(usage: Usage | undefined): JsonObject {
  return usage?.tier === undefined ? {} : { service_tier: usage.tier }
}
