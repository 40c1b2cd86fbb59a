// During development, only a part of the long sweeps (screens, recordings, invalid requests, kills) is run. `npm test`
// uses a seed to choose a tenth of the cases, and a fifth of the points at which a program is killed.

/** Set by `npm test` unless it runs everything, as it does in CI. The same seed chooses the same cases. */
const seed = process.env['SWEEP_SEED']

/** True if all cases are run. Only then can a test count them. */
export const runsAll = seed === undefined

/**
 * The cases of a sweep that this run executes: either all, or about one in `share` (at least one), chosen by the seed.
 */
export function swept<Case>(cases: readonly Case[], nameOf: (each: Case) => string, share = 10): readonly Case[] {
  if (seed === undefined) return cases
  const chosen = cases.filter((each) => hash(`${seed} ${nameOf(each)}`) % share === 0)
  return chosen.length > 0 ? chosen : cases.slice(0, 1)
}

/** The points from 1 to `count` at which this run kills a program. */
export function sweptPoints(count: number, name: string): readonly number[] {
  const points = Array.from({ length: count }, (_, at) => at + 1)
  return swept(points, (point) => `${name} ${point}`, 5)
}

/** FNV-1a over the characters. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value >>> 0
}
