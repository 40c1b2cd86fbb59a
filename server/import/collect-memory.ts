/**
 * Collects the heap. The engine sees only a part of what texts from a database take, so during millions of rows the process
 * would grow to twice the size.
 */
export function collectMemory(): void {
  Bun.gc(true)
}
