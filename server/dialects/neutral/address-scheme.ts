import { GatewayError } from '../../errors.ts'

/**
 * URL schemes of files that a service can fetch. The first five are for the web, for inline data, and for Google's and
 * Amazon's storage. The others are for files that were uploaded to a service beforehand (Alibaba, Moonshot, MiniMax,
 * Volcengine, Tencent).
 */
const known = new Set(['http', 'https', 'data', 'gs', 's3', 'oss', 'ms', 'mm_file', 'asset', 'cos'])

/**
 * Throws GatewayError (400) for the URL of a file that no service should open for a caller, for example a file on the
 * service's own disk. A name without a scheme is accepted, because it is a service's own file id.
 */
export function refuseScheme(address: unknown): void {
  if (typeof address !== 'string') return
  // URL parsers ignore line breaks within a URL and spaces before it, so they are ignored here, too.
  const start = address.slice(0, 64).replaceAll(/[\t\r\n]/g, '')
  const scheme = /^[\s\p{Cc}]*([a-z][a-z0-9+._-]{0,30}):/iu.exec(start)?.[1]
  if (scheme === undefined || known.has(scheme.toLowerCase())) return
  throw new GatewayError(
    'invalid_field_value',
    `a file URL cannot begin with ${scheme}: use http, https, data or the name that the provider gave the file`,
  )
}
