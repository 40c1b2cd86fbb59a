/**
 * A normalised form of a name, which is the same for all names that some parsers, such as Go's encoding/json, treat as
 * equal. Such names differ only in case, or in characters that count as the same letter (`ſ` and `s`, the Kelvin sign
 * and `k`, full-width letters).
 */
export function foldedName(name: string): string {
  return isPlain.test(name) ? name : name.normalize('NFKC').toUpperCase().toLowerCase()
}

/** Matches a name that needs no folding. */
const isPlain = /^[a-z0-9_]*$/
