import { GatewayError } from '../../errors.ts'

/**
 * Schemes of files that a service can mean: the web's, the bytes themselves, Google's and Amazon's storage, and files that
 * were given to a service before (Alibaba, Moonshot, MiniMax, Volcengine, Tencent).
 */
const known = new Set(['http', 'https', 'data', 'gs', 's3', 'oss', 'ms', 'mm_file', 'asset', 'cos'])

/**
 * Refuses the address of a file that no service may open for a caller: one on its own disk, say. A name without a scheme
 * is a service's own. Throws GatewayError (400).
 */
export function refuseScheme(address: unknown): void {
  if (typeof address !== 'string') return
  // What reads addresses drops line ends within them, and blanks before them.
  const start = address.slice(0, 64).replaceAll(/[\t\r\n]/g, '')
  const scheme = /^[\s\p{Cc}]*([a-z][a-z0-9+._-]{0,30}):/iu.exec(start)?.[1]
  if (scheme === undefined || known.has(scheme.toLowerCase())) return
  throw new GatewayError(
    'invalid_field_value',
    `an address of a file may not begin with ${scheme}: use http, https, data or a name that the service gave it`,
  )
}
