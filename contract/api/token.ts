import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery } from './endpoint.ts'
import { idField, quotaField, text } from './fields.ts'
import { listQuery } from './list-query.ts'

/** A token as its owner sees it, the key (48 characters without `sk-`) included. */
export const tokenSchema = z.object({
  id: z.number(),
  user_id: z.number(),
  key: z.string(),
  status: z.number(),
  name: z.string(),
  created_time: z.number(),
  accessed_time: z.number(),
  expired_time: z.number(),
  remain_quota: z.number(),
  unlimited_quota: z.boolean(),
  used_quota: z.number(),
  models: z.nullable(z.string()),
  subnet: z.nullable(z.string()),
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
  /** May be empty. */
  name: z.optional(text(30)),
  remain_quota: z.nullish(quotaField),
  /** Epoch seconds; -1, 0 and nothing mean never when a token is made. */
  expired_time: z.nullish(z.int().check(z.gte(-1), z.lte(1e12))),
  unlimited_quota: z.optional(z.boolean()),
  /** Comma-separated model names; nothing = all. */
  models: z.nullish(z.string().check(z.maxLength(20_000))),
  /** Comma-separated CIDRs that calls may come from; nothing = anywhere. */
  subnet: z.nullish(z.string().check(z.maxLength(2000))),
}

export const createTokenBody = z.object(fields)

/** Fields left out stay as they are; `status` is read but changed by the `status_only` form alone. */
export const updateTokenBody = z.object({
  id: idField,
  status: z.optional(z.int()),
  ...fields,
  /** Ours: added to remain_quota, so that what running calls spend meanwhile is not lost. */
  remain_quota_delta: z.optional(quotaField),
})

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
    data: tokenSchema,
    summary: 'Make a token',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/token/',
    access: 'user',
    query: z.object({ status_only: z.optional(z.string()) }),
    body: updateTokenBody,
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
