import type { ParameterOperation } from '../../../contract/api/channel-carries.ts'
import { tryParse } from '../../lib/json.ts'
import { type ProxyServer, proxyOf } from '../../lib/network/proxy.ts'
import { type StoredCarries, textsIn } from '../../store/channels/stored-carries.ts'

/** What a channel adds to its calls besides the key. Absent parts change nothing. */
export interface Carries {
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly parameters?: readonly ParameterOperation[]
  /** Error status of the upstream → the status as which it is treated. */
  readonly statuses?: ReadonlyMap<number, number>
  readonly proxy?: ProxyServer
}

/** What the relay does with it; undefined if the channel carries nothing, as most channels do. */
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
