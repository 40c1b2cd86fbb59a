import type { JsonObject } from '../lib/json.ts'

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
  return askedTier(speed, tier, serviceTier)
}
