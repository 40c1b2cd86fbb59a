/**
 * A comment in an event stream. It has no content. It prevents clients and proxies from treating a quiet connection as
 * dead.
 */
export const keepAlive: Uint8Array = new TextEncoder().encode(': keep-alive\n\n')
