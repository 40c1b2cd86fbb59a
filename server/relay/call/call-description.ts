import type { CallParameters } from '../../../contract/api/log-request.ts'

/** How a call was made, without content, as the log row stores it. The names are short because every row has them. */
export interface StoredDescription {
  path?: string | undefined
  /** The caller's dialect. */
  from?: string | undefined
  client?: string | undefined
  with?: CallParameters
  /** The upstream's dialect. */
  to?: string
}

/** JSON of a stored description without `to`, which is known only when the call ends. */
export type CallDescription = string & { readonly kind: 'call description' }

/** The JSON of what is known about a call when it arrives. */
export function describedAs(description: Omit<StoredDescription, 'to'>): CallDescription {
  return JSON.stringify(description) as CallDescription
}

/** The JSON for the log row. `upstreamDialect` is one of our own names, which need no escaping. */
export function storedDescription(described: CallDescription, upstreamDialect: string | undefined): string {
  if (upstreamDialect === undefined) return described
  const comma = described === '{}' ? '' : ','
  return `${described.slice(0, -1)}${comma}"to":"${upstreamDialect}"}`
}
