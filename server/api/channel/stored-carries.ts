import { isSecretHeader, type ParameterOperation } from '../../../contract/api/channel-carries.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { openedCarries, type StoredCarries, sealedCarries, textsIn } from '../../store/channels/stored-carries.ts'
import type { CarryColumns } from '../../store/schema/carry-columns.ts'
import type { CarryFields } from './carry-input.ts'

/** The columns of a channel row that contain what the channel adds to its requests, such as headers. */
export type CarryRow = Record<keyof CarryColumns, string>

/**
 * What a channel adds to its requests, as admins see it: without the values of secret headers, and without the login of
 * the proxy.
 */
export function carriesView(row: CarryRow, secrets: Secrets) {
  const { tags, remark, test_model, organization, project, proxy } = row
  const statuses = row.status_map === '' ? {} : tryParse(row.status_map)
  return {
    tags: tags === '' ? [] : tags.split(','),
    remark,
    test_model,
    organization,
    project,
    headers: Object.fromEntries(
      Object.entries(headersOf(row, secrets)).map(([name, value]) => [name, isSecretHeader(name) ? '' : value]),
    ),
    parameters: row.parameters === '' ? [] : (tryParse(row.parameters) as ParameterOperation[]),
    status_map: isObject(statuses) ? (statuses as Record<string, number>) : {},
    proxy,
    proxy_has_login: row.proxy_login !== '',
  }
}

/**
 * The headers of a channel row. Empty if they cannot be decrypted, in which case the key cannot be decrypted either.
 */
function headersOf(row: CarryRow, secrets: Secrets): Record<string, string> {
  try {
    return textsIn(openedCarries(row, secrets).headers)
  } catch {
    return {}
  }
}

/** The columns with their secrets readable. Throws ApiFailure if they cannot be decrypted. */
export function readableCarries(row: CarryRow, secrets: Secrets): StoredCarries {
  try {
    return openedCarries(row, secrets)
  } catch {
    throw new ApiFailure('The headers of this channel cannot be decrypted. Save them again.')
  }
}

/** Encrypts the secret fields. Fields whose secret is unchanged are omitted. */
export function sealedFields(fields: CarryFields, before: StoredCarries | undefined, secrets: Secrets): CarryFields {
  const sealed = { ...fields }
  for (const [name, context] of Object.entries(sealedCarries) as [keyof typeof sealedCarries, string][]) {
    const value = fields[name]
    if (value === undefined) continue
    if (before && value === before[name]) delete sealed[name]
    else sealed[name] = value === '' ? '' : secrets.seal(value, context)
  }
  return sealed
}

/** The value for a channel that adds nothing to its requests. */
export const nothingCarried: StoredCarries = {
  organization: '',
  project: '',
  headers: '',
  parameters: '',
  status_map: '',
  proxy: '',
  proxy_login: '',
}
