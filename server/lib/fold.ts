/**
 * A name without the differences that some parsers ignore when they match names: case, and characters that are treated
 * as the same letter (`ſ` and `s`, the Kelvin sign and `k`, full-width letters). Go's encoding/json is one of them.
 */
export function foldedName(name: string): string {
  return isPlain.test(name) ? name : name.normalize('NFKC').toUpperCase().toLowerCase()
}

/** Nothing to fold. */
const isPlain = /^[a-z0-9_]*$/
