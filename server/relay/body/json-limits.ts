import type { JsonLimits } from '../../lib/parse-json.ts'

/** What a body may be made of: far more than any model reads, and little enough to be read in a moment. */
export const jsonLimits: JsonLimits = { values: 500_000, containers: 100_000, names: 5_000, depth: 200 }

/** The most that is read and written anew for a channel of another dialect: some 40 ms of work. */
export const translatedLimits: JsonLimits = { ...jsonLimits, containers: 20_000 }
