/**
 * If a text has more than twice this number of characters, only this many characters at each end and the length are
 * hashed. The cost therefore does not grow with the text.
 */
const endCharacters = 1024

/**
 * Adds a text to a hash of 32 bits. The result is the same in every process. The hash is cheap and distributes well,
 * but it is not secret, because anybody who knows the texts can compute it.
 */
export function hashText(hash: number, text: string): number {
  const { length } = text
  if (length <= 2 * endCharacters) return hashNumber(hashRange(hash, text, 0, length), length)
  const begun = hashRange(hash, text, 0, endCharacters)
  return hashNumber(hashRange(begun, text, length - endCharacters, length), length)
}

/** Adds a whole number to a hash of 32 bits. */
export function hashNumber(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ value, 0x85_eb_ca_6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2_b2_ae_35)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0x27_d4_eb_2f)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

function hashRange(hash: number, text: string, from: number, to: number): number {
  let mixed = hash ^ 0x9e_37_79_b9
  for (let at = from; at < to; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01_00_01_93)
  return mixed
}
