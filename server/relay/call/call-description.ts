import type { CallParameters } from '../../../contract/api/log-request.ts'

/**
 * Facts about a call's request, as the log row stores them. They do not include its content. The field names are short
 * because every row contains them.
 */
export interface StoredDescription {
  path?: string | undefined
  /** The caller's dialect. */
  from?: string | undefined
  client?: string | undefined
  with?: CallParameters
  /** The upstream's dialect. */
  to?: string
}

/** The JSON of a stored description, without `to`, because the upstream's dialect is known only when the call ends. */
export type CallDescription = string & { readonly kind: 'call description' }

/** The JSON of the facts that are known about a call when it arrives. */
export function describedAs(description: Omit<StoredDescription, 'to'>): CallDescription {
  return JSON.stringify(description) as CallDescription
}

/** The JSON for the log row. `upstreamDialect` needs no escaping, because it is one of the gateway's own names. */
export function storedDescription(described: CallDescription, upstreamDialect: string | undefined): string {
  if (upstreamDialect === undefined) return described
  const comma = described === '{}' ? '' : ','
  return `${described.slice(0, -1)}${comma}"to":"${upstreamDialect}"}`
}
