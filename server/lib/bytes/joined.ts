/** Two chunks as one; a single chunk is not copied. */
export function joined(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (!a || a.length === 0) return b ?? a
  if (!b || b.length === 0) return a
  return Buffer.concat([a, b])
}
