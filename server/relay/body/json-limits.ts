import type { JsonLimits } from '../../lib/parse-json.ts'

/** The limits of a JSON body: far more than any model reads, but small enough to be parsed quickly. */
export const jsonLimits: JsonLimits = { values: 500_000, containers: 100_000, names: 5_000, depth: 200 }

/** The limits for a request that is translated into another dialect: about 40 ms of work. */
export const translatedLimits: JsonLimits = { ...jsonLimits, containers: 20_000 }
