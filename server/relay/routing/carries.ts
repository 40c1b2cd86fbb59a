import type { ParameterOperation } from '../../../contract/api/channel-carries.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import { type ProxyServer, proxyOf } from '../../lib/network/proxy.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { CarryColumns } from '../../store/schema/carry-columns.ts'

/** What a channel adds to its calls besides the key. Absent parts change nothing. */
export interface Carries {
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly parameters?: readonly ParameterOperation[]
  /** Error status of the upstream → the status as which it is treated. */
  readonly statuses?: ReadonlyMap<number, number>
  readonly proxy?: ProxyServer
}

/** The columns that are encrypted, and what they are encrypted for. */
export const sealedCarries = { headers: 'channel-headers', proxy_login: 'channel-proxy-login' } as const

/** The stored form of what a channel carries, with the encrypted columns as they are. */
export type StoredCarries = Record<Exclude<keyof CarryColumns, 'tags' | 'remark' | 'test_model' | 'costs'>, string>

/** The same with the encrypted columns as plain text. Throws if they cannot be decrypted. */
export function openedCarries(row: StoredCarries, secrets: Secrets): StoredCarries {
  const { organization, project, parameters, status_map, proxy } = row
  const open = (name: keyof typeof sealedCarries) =>
    row[name] === '' ? '' : secrets.open(row[name], sealedCarries[name])
  return {
    organization,
    project,
    parameters,
    status_map,
    proxy,
    headers: open('headers'),
    proxy_login: open('proxy_login'),
  }
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

/** The texts of a stored JSON object; '' is an empty one. */
export function textsIn(stored: string): Record<string, string> {
  const value = stored === '' ? {} : tryParse(stored)
  return isObject(value) ? (value as Record<string, string>) : {}
}

function namesInLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
