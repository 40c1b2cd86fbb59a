import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import type { CarryColumns } from '../schema/carry-columns.ts'

/** The columns that are encrypted, each with the purpose for which its text is encrypted. */
export const sealedCarries = { headers: 'channel-headers', proxy_login: 'channel-proxy-login' } as const

/** The stored settings that a channel applies to its calls. The encrypted columns stay encrypted. */
export type StoredCarries = Record<Exclude<keyof CarryColumns, 'tags' | 'remark' | 'test_model' | 'costs'>, string>

/** The same settings with the encrypted columns as plain text. Throws if they cannot be decrypted. */
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

/** The texts of a stored JSON object. '' represents an empty object. */
export function textsIn(stored: string): Record<string, string> {
  const value = stored === '' ? {} : tryParse(stored)
  return isObject(value) ? (value as Record<string, string>) : {}
}
