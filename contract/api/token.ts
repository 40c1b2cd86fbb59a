import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery, statusOnlyQuery } from './endpoint.ts'
import { idField, quotaField, text } from './fields.ts'
import { limitsShown, limitsWritten } from './limit-fields.ts'
import { listQuery } from './list-query.ts'

/** A token as its owner sees it, including the key (48 characters without `sk-`). */
export const tokenSchema = z.object({
  id: z.int(),
  user_id: z.int(),
  key: z.string().check(z.describe('The key without its sk-.')),
  status: z.int().check(z.describe('1 enabled, 2 disabled, 3 expired, 4 used up.')),
  name: z.string(),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  accessed_time: z.int().check(z.describe('Epoch seconds of the last call.')),
  expired_time: z.int().check(z.describe('Epoch seconds; -1 = never.')),
  remain_quota: z.int().check(z.describe('Quota units left; no limit while unlimited_quota.')),
  unlimited_quota: z.boolean(),
  used_quota: z.int().check(z.describe('Quota units.')),
  models: z.nullable(z.string().check(z.describe('Comma-separated names of the models it may use; nothing = all.'))),
  subnet: z.nullable(
    z.string().check(z.describe('Comma-separated CIDRs that calls may come from; nothing = anywhere.')),
  ),
  ...limitsShown,
})

export type Token = z.output<typeof tokenSchema>

export const tokenSortColumns = [
  'id',
  'name',
  'status',
  'used_quota',
  'remain_quota',
  'created_time',
  'accessed_time',
  'expired_time',
] as const

const fields = {
  name: z.optional(text(30).check(z.describe('May be empty.'))),
  remain_quota: z.nullish(quotaField),
  expired_time: z.nullish(
    z.int().check(z.gte(-1), z.lte(1e12), z.describe('Epoch seconds; -1, 0 and nothing mean never in a new token.')),
  ),
  unlimited_quota: z.optional(z.boolean()),
  models: z.nullish(z.string().check(z.maxLength(20_000), z.describe('Comma-separated model names; nothing = all.'))),
  subnet: z.nullish(
    z
      .string()
      .check(z.maxLength(2000), z.describe('Comma-separated CIDRs that calls may come from; nothing = anywhere.')),
  ),
  ...limitsWritten,
}

export const createTokenBody = z.object(fields)

/** Omitted fields stay unchanged. `status` is accepted, but only a `status_only` request changes it. */
export const updateTokenBody = z.object({
  id: idField,
  status: z.optional(z.int()),
  ...fields,
  remain_quota_delta: z.optional(
    quotaField.check(z.describe('Added to remain_quota, so that what running calls spend meanwhile is not lost.')),
  ),
})

/** All fields of a token, which the original console sends back. */
const rowFields = Object.keys(tokenSchema.shape)

export const tokenApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/token/',
    access: 'user',
    query: listQuery(tokenSortColumns),
    data: z.array(tokenSchema),
    summary: 'Own tokens, newest first',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/token/search',
    access: 'user',
    query: z.extend(listQuery(tokenSortColumns, 100), keywordQuery.shape),
    data: z.array(tokenSchema),
    summary: 'Own tokens whose name begins with the keyword',
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/token/{id}',
    access: 'user',
    params: idParams,
    data: tokenSchema,
    summary: 'One own token',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/token/',
    access: 'user',
    body: createTokenBody,
    ignores: rowFields,
    data: tokenSchema,
    summary: 'Make a token',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/token/',
    access: 'user',
    query: statusOnlyQuery,
    body: updateTokenBody,
    ignores: rowFields,
    data: tokenSchema,
    summary: 'Change a token; with ?status_only=true only its status (1 or 2)',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/token/{id}',
    access: 'user',
    params: idParams,
    summary: 'Delete a token',
  }),
}
