/**
 * Runs the garbage collector. The engine underestimates the memory of texts from a database. Without this, the process
 * would double in size while it reads millions of rows.
 */
export function collectMemory(): void {
  Bun.gc(true)
}
