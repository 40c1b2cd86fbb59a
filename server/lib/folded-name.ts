/**
 * A name without the differences that some parsers, such as Go's encoding/json, ignore when they match names: case, and
 * characters that are treated as the same letter (`ſ` and `s`, the Kelvin sign and `k`, full-width letters).
 */
export function foldedName(name: string): string {
  return isPlain.test(name) ? name : name.normalize('NFKC').toUpperCase().toLowerCase()
}

/** Matches a name that needs no folding. */
const isPlain = /^[a-z0-9_]*$/
