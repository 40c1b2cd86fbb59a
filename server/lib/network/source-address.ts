/**
 * The address of a database server. The driver gets the parts and not the text, so that the text cannot change other
 * settings of the driver.
 */
export interface SourceAddress {
  kind: 'postgres' | 'mysql'
  host: string
  port: number
  user: string
  password: string
  database: string
  /** `unchecked`: the connection is encrypted, but the certificate is not checked. */
  tls: 'off' | 'unchecked' | 'checked'
  /** The address without the user and password. */
  label: string
}

const usualPorts = { postgres: 5432, mysql: 3306 }

/** The form in which one-api and its forks write a MySQL address: `user:password@tcp(host:port)/name?…`. */
const goForm =
  /^(?<user>[^:@]*):(?<password>.*)@tcp\((?<host>\[[^\]]+\]|[^):]+)(?::(?<port>\d{1,5}))?\)\/(?<name>[^?]+)(?:\?(?<query>.*))?$/

/** Parameters that do not affect which data is read. */
const harmless = new Set(['charset', 'parseTime', 'loc', 'collation', 'timeout', 'application_name', 'connect_timeout'])

const tlsModes: Readonly<Record<string, SourceAddress['tls']>> = {
  disable: 'off',
  allow: 'off',
  prefer: 'off',
  require: 'unchecked',
  'no-verify': 'unchecked',
  'verify-ca': 'checked',
  'verify-full': 'checked',
  false: 'off',
  'skip-verify': 'unchecked',
  preferred: 'off',
  true: 'checked',
}

/**
 * Parses the address of a database server. Parameters that would make a driver read files, or connect to a socket of
 * this machine, are refused. If the address is not valid, returns a sentence that does not contain the address.
 */
export function sourceAddress(text: string): SourceAddress | { fault: string } {
  const go = goForm.exec(text)?.groups
  if (go)
    return checked({
      kind: 'mysql',
      host: go['host'] ?? '',
      port: Number(go['port'] ?? usualPorts.mysql),
      user: go['user'] ?? '',
      password: go['password'] ?? '',
      database: go['name'] ?? '',
      query: new URLSearchParams(go['query'] ?? ''),
    })
  const scheme = /^(postgres|postgresql|mysql|mariadb):\/\//i.exec(text)?.[1]?.toLowerCase()
  const url = scheme !== undefined && URL.canParse(text) ? new URL(text) : undefined
  if (!url)
    return { fault: 'The address must begin with postgres:// or mysql://. Special characters are percent-encoded.' }
  const kind = scheme?.startsWith('postgres') ? 'postgres' : 'mysql'
  try {
    return checked({
      kind,
      host: url.hostname,
      port: Number(url.port || usualPorts[kind]),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
      query: url.searchParams,
    })
  } catch {
    return { fault: 'The address is not percent-encoded correctly.' }
  }
}

interface Parts extends Omit<SourceAddress, 'tls' | 'label'> {
  query: URLSearchParams
}

function checked({ query, ...parts }: Parts): SourceAddress | { fault: string } {
  const host = decodeURIComponent(parts.host).replace(/^\[|\]$/g, '')
  if (!/^[\p{L}\p{N}._:-]{1,255}$/u.test(host)) return { fault: 'The address has no valid host.' }
  if (parts.database === '') return { fault: 'The address has no database name at its end.' }
  if ([parts.user, parts.password, parts.database].some((each) => each.includes('\0')))
    return { fault: 'The address must not contain NUL characters.' }
  if (!(parts.port >= 1 && parts.port <= 65_535)) return { fault: 'The address has no valid port.' }
  let tls: SourceAddress['tls'] = 'off'
  for (const [name, value] of query) {
    const mode = tlsModes[value]
    if (['sslmode', 'ssl-mode', 'tls'].includes(name) && mode !== undefined) tls = mode
    else if (!harmless.has(name))
      return { fault: `The address has the parameter ${name.slice(0, 40)}, which is not allowed here.` }
  }
  const shownHost = host.includes(':') ? `[${host}]` : host
  return { ...parts, host, tls, label: `${parts.kind}://${shownHost}:${parts.port}/${parts.database}` }
}
