import type { JsonLimits } from '../../lib/parse-json.ts'

/**
 * The limits of a JSON body. They allow far more than any model reads, but a body within them can be parsed quickly.
 */
export const jsonLimits: JsonLimits = { values: 500_000, containers: 100_000, names: 5_000, depth: 200 }

/**
 * The limits for a request that is translated into another dialect, so that the translation takes at most about 40 ms.
 */
export const translatedLimits: JsonLimits = { ...jsonLimits, containers: 20_000 }
