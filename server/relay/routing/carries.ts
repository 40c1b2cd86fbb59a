import type { ParameterOperation } from '../../../contract/api/channel-carries.ts'
import { tryParse } from '../../lib/json.ts'
import { type ProxyServer, proxyOf } from '../../lib/network/proxy.ts'
import { type StoredCarries, textsIn } from '../../store/channels/stored-carries.ts'

/** Everything that a channel adds to or changes in its calls, apart from the key. Absent fields change nothing. */
export interface Carries {
  /** Request headers to add. Their names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly parameters?: readonly ParameterOperation[]
  /** Maps an error status of the upstream to the status that is used in its place. */
  readonly statuses?: ReadonlyMap<number, number>
  readonly proxy?: ProxyServer
}

/** Parses the stored settings. Undefined if the channel adds and changes nothing, which is the usual case. */
export function carriesOf(row: StoredCarries): Carries | undefined {
  const headers = {
    ...(row.organization !== '' && { 'openai-organization': row.organization }),
    ...(row.project !== '' && { 'openai-project': row.project }),
    ...namesInLowerCase(textsIn(row.headers)),
  }
  const parameters = row.parameters === '' ? [] : (tryParse(row.parameters) as ParameterOperation[])
  const statuses = row.status_map === '' ? {} : (tryParse(row.status_map) as Record<string, number>)
  const carries: Carries = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(parameters.length > 0 && { parameters }),
    ...(Object.keys(statuses).length > 0 && {
      statuses: new Map(Object.entries(statuses).map(([from, to]) => [Number(from), to])),
    }),
    ...(row.proxy !== '' && { proxy: proxyOf(row.proxy, row.proxy_login) }),
  }
  return Object.keys(carries).length > 0 ? carries : undefined
}

function namesInLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
