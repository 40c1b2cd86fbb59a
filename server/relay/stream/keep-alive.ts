/**
 * A comment in an event stream: it has no content, and keeps clients and proxies from taking a quiet connection for a
 * dead one.
 */
export const keepAlive: Uint8Array = new TextEncoder().encode(': keep-alive\n\n')
