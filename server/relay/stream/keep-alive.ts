/** A comment of a stream of events: it says nothing, and keeps programs and proxies from taking a silent line for a dead one. */
export const keepAlive: Uint8Array = new TextEncoder().encode(': keep-alive\n\n')
