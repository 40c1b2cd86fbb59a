/**
 * Runs the garbage collector. JavaScriptCore underestimates the memory that texts from a database use, so it runs the
 * collector too rarely. Without this call, the process would double in size while it reads millions of rows.
 */
export function collectMemory(): void {
  Bun.gc(true)
}
