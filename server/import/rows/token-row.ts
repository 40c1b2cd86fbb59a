import { tokenStatus } from '../../../contract/statuses.ts'
import { parseNetwork } from '../../lib/network/ip-network.ts'
import { splitList } from '../../lib/split-list.ts'
import {
  hasUnreadableTime,
  inner,
  integer,
  isDeleted,
  object,
  seconds,
  text,
  textsOf,
  trimmed,
  truth,
} from '../fields.ts'
import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { limitValues } from './limit-columns.ts'
import { amount, reportZeroDate, storedStatus } from './user-row.ts'

/** A token of the source in Tollgate's terms. */
export interface TokenDraft {
  id: number
  userId: number
  /** Without `sk-`. */
  key: string
  status: number
  name: string
  createdTime: number
  accessedTime: number
  expiredTime: number
  remain: number
  unlimited: boolean
  used: number
  models: string | null
  subnet: string | null
  group: string
  /** In the order of `limitColumns`. */
  limits: number[]
}

/** Reads a token; undefined if it was deleted or has no key. */
export function readToken(row: SourceRow, program: Program, findings: Findings): TokenDraft | undefined {
  const id = integer(row, 'id')
  // LiteLLM's rows have no numeric ids. Those that the import assigned mean nothing to the reader of the report, so the
  // name is used.
  const example = program.name === 'litellm' ? trimmed(row, 'name') : `token ${id}`
  const key = trimmed(row, 'key').replace(/^sk-/, '')
  reportZeroDate(row, 'tokens', example, findings)
  if (isDeleted(row)) return undefined
  if (key === '') {
    findings.leave(
      { kind: 'token', id: example, reason: 'no key', data: { name: text(row, 'name') } },
      'The token has no key and is skipped.',
    )
    return undefined
  }
  const unlimited = truth(row, 'unlimited_quota')
  const limits = limitsOf(row, program)
  const models = limits.models === undefined ? null : [...new Set(limits.models)].join(',') || null
  const subnet = limits.addresses === undefined ? null : networks(limits.addresses, example, findings)
  const kinds = { part: 'tokens' as const, new: tokenStatus.enabled, disabled: tokenStatus.disabled }
  let status = storedStatus(row, kinds, example, findings)
  if (!Object.values<number>(tokenStatus).includes(status)) status = tokenStatus.disabled
  // The restriction to models or the restriction to addresses has no entry that can be imported. Without this
  // restriction the token could do more than in the source, so it is disabled.
  if ((limits.models !== undefined && models === null) || (limits.addresses !== undefined && subnet === null)) {
    findings.add('tokens', 'The token is restricted to an empty list of models or addresses. It is disabled.', example)
    status = tokenStatus.disabled
  }
  if (hasUnreadableTime(row, 'expired_time')) {
    findings.add(
      'tokens',
      'The expiry cannot be read. The row is disabled.',
      `${example}: ${text(row, 'expired_time')}`,
    )
    status = tokenStatus.disabled
  }
  return {
    id,
    userId: integer(row, 'user_id'),
    key,
    status,
    name: trimmed(row, 'name'),
    createdTime: seconds(row, 'created_time'),
    accessedTime: seconds(row, 'accessed_time'),
    expiredTime: seconds(row, 'expired_time', -1) || -1,
    // Some programs subtract from the balance of unlimited tokens, for which it has no meaning.
    remain: unlimited ? Math.max(0, integer(row, 'remain_quota')) : amount(row, 'remain_quota', example, findings),
    unlimited,
    used: amount(row, 'used_quota', example, findings),
    models,
    subnet,
    group: groupOf(row, example, findings),
    limits: limitValues(row),
  }
}

/** The restrictions of a token; undefined = no restriction of that kind. */
function limitsOf(row: SourceRow, { name }: Program): { models?: string[]; addresses?: string[] } {
  if (name === 'one-hub') {
    const limits = inner(object(row, 'setting'), 'limits')
    const models = inner(limits, 'limit_model_setting')
    const addresses = inner(limits, 'limits_ip_setting')
    return {
      ...(models?.['enabled'] === true && { models: textsOf(models['models']) }),
      ...(addresses?.['enabled'] === true && { addresses: textsOf(addresses['whitelist']) }),
    }
  }
  if (name === 'new-api' || name === 'litellm') {
    const addresses = text(row, 'allow_ips')
      .split(/[\n,]/)
      .map((each) => each.trim())
      .filter((each) => each !== '')
    return {
      ...(truth(row, 'model_limits_enabled') && { models: splitList(text(row, 'model_limits')) }),
      ...(addresses.length > 0 && { addresses }),
    }
  }
  const models = splitList(text(row, 'models'))
  const addresses = splitList(text(row, 'subnet'))
  return { ...(models.length > 0 && { models }), ...(addresses.length > 0 && { addresses }) }
}

function networks(addresses: readonly string[], example: string, findings: Findings): string | null {
  const known = addresses.filter((each) => parseNetwork(each) !== undefined)
  if (known.length < addresses.length)
    findings.add('tokens', 'An allowed address of the token cannot be read. It is dropped; the others stay.', example)
  return known.map((each) => (each.includes('/') ? each : `${each}/${each.includes(':') ? 128 : 32}`)).join(',') || null
}

function groupOf(row: SourceRow, example: string, findings: Findings): string {
  const group = trimmed(row, 'group')
  const second = trimmed(row, 'backup_group')
  if (second !== '')
    findings.leave(
      { kind: 'token', id: example, reason: 'backup_group', data: { backup_group: second } },
      'The second group of the token has no counterpart.',
    )
  if (group !== 'auto') return group
  findings.add('tokens', 'The group auto has no counterpart. The token uses the group of its owner.', example)
  return ''
}
