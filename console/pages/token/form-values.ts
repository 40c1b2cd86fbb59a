import * as z from 'zod/mini'
import { createTokenBody, maxProjectLength, type Token } from '../../../contract/api/token.ts'
import { type LimitValues, limitRules, limitValues } from '../../components/form/limit-fields.tsx'

/** Quota of a new token. */
const defaultTokenQuota = 500_000

/**
 * Form values. `expired_time` is in epoch seconds; -1 means never. Without models, all models are allowed. Without a
 * subnet, all addresses are allowed.
 */
export interface TokenValues extends LimitValues {
  name: string
  remain_quota: number
  expired_time: number
  unlimited_quota: boolean
  /** '' for the group of the account. */
  group: string
  models: string[]
  subnet: string
  /** '' for none. */
  project: string
}

const common = {
  expired_time: z
    .custom<number>((value) => Number.isInteger(value), { error: 'token.form.expiry.invalid' })
    .check(z.gte(-1, { error: 'token.form.expiry.invalid' })),
  remain_quota: z.int().check(z.gte(-1e15), z.lte(1e15)),
  group: z.string(),
  models: z.array(z.string()),
  project: z.string().check(z.trim(), z.maxLength(maxProjectLength)),
  ...limitRules,
}

/** The rules of the contract, with the console's message for an invalid expiry. A new token needs a name. */
export function tokenSchema(isNew: boolean) {
  const { name } = createTokenBody.shape
  return z.extend(createTokenBody, {
    ...common,
    name: isNew ? z.string().check(z.trim(), z.minLength(1), z.maxLength(30)) : name,
  })
}

/** The distinct names in a comma-separated text. */
function namesOf(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '')
}

/** The values of a new token, or of an existing one. */
export function tokenValues(token?: Token): TokenValues {
  return {
    name: token?.name ?? '',
    remain_quota: token?.remain_quota ?? defaultTokenQuota,
    expired_time: token?.expired_time ?? -1,
    unlimited_quota: token?.unlimited_quota ?? false,
    group: token?.group ?? '',
    models: namesOf(token?.models ?? ''),
    subnet: token?.subnet ?? '',
    project: token?.project ?? '',
    ...limitValues(token),
  }
}
