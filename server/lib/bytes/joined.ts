/** Two chunks as one; a single chunk is not copied. */
export function joined(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (!a || a.length === 0) return b ?? a
  if (!b || b.length === 0) return a
  return Buffer.concat([a, b])
}

/**
 * The same for two parts of one buffer that nothing else reads any more: `b` is moved up to the end of `a`, over what
 * was between them.
 */
export function closedUp(a: Uint8Array | undefined, b: Uint8Array): Uint8Array {
  if (!a || a.length === 0) return b
  const isBehind = a.buffer === b.buffer && b.byteOffset >= a.byteOffset + a.length
  if (!isBehind) return Buffer.concat([a, b])
  const out = new Uint8Array(a.buffer, a.byteOffset, a.length + b.length)
  out.set(b, a.length)
  return out
}
