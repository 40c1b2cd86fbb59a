// During development only a part of the long sweeps (screens, recordings, invalid requests) is run: `npm test` chooses
// a tenth by a seed.

/** Set by `npm test` unless it runs everything, as it does in CI. The same seed chooses the same tenth. */
const seed = process.env['SWEEP_SEED']

/** True if all cases are run, which is the only situation in which a test can count them. */
export const runsAll = seed === undefined

/** One in this many cases is run. */
const share = 10

/** The cases of a sweep that this run executes: all of them, or those that the seed chooses, but at least one. */
export function swept<Case>(cases: readonly Case[], nameOf: (each: Case) => string): readonly Case[] {
  if (seed === undefined) return cases
  const chosen = cases.filter((each) => hash(`${seed} ${nameOf(each)}`) % share === 0)
  return chosen.length > 0 ? chosen : cases.slice(0, 1)
}

/** FNV-1a over the characters. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value >>> 0
}
