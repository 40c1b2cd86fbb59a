import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery, statusOnlyQuery } from './endpoint.ts'
import { idField, maxQuota, text, trimmedText } from './fields.ts'
import { listQuery, numberFilter } from './list-query.ts'

/** A redemption code and its value. `count` belongs to the form for creating codes and is always 0 here. */
export const redemptionSchema = z.object({
  id: z.int(),
  /** The user who created the code. */
  user_id: z.int(),
  key: z.string(),
  status: z.int().check(z.describe('1 unused, 2 disabled, 3 used.')),
  name: z.string(),
  quota: z.int().check(z.describe('Value of the code in quota units.')),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  redeemed_time: z.int().check(z.describe('Epoch seconds; 0 means not yet.')),
  count: z.literal(0),
  /** Added by Tollgate: the user who redeemed the code; 0 = nobody yet. */
  redeemed_user_id: z.int(),
})

export type Redemption = z.output<typeof redemptionSchema>

export const redemptionSortColumns = [
  'id',
  'name',
  'status',
  'quota',
  'created_time',
  'redeemed_time',
  'redeemed_user_id',
] as const

/** Filters for codes, in the list and in a search. */
const filters = { status: numberFilter(3, '1 unused, 2 disabled, 3 used; 0 = all.') }

/** The maximum number of codes that one call can create. */
export const maxRedemptions = 100

export const redemptionName = trimmedText(20).check(z.minLength(1, { error: 'must not be empty' }))

const worth = z.int().check(z.gte(1), z.lte(maxQuota))

/** How many codes to make at once. */
export const redemptionCount = z.int().check(z.gte(1), z.lte(maxRedemptions))

export const createRedemptionBody = z.object({
  name: redemptionName,
  quota: worth,
  count: z._default(redemptionCount, 1),
})

/** Omitted fields stay unchanged. `status` is accepted, but only a `status_only` request changes it. */
export const updateRedemptionBody = z.object({
  id: idField,
  name: z.optional(z.string().check(z.trim(), z.maxLength(200))),
  quota: z.optional(worth),
  status: z.optional(z.int()),
})

/** All fields of a code, which the original console sends back. */
const rowFields = Object.keys(redemptionSchema.shape)

export const redemptionApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/redemption/',
    access: 'admin',
    query: z.extend(listQuery(redemptionSortColumns), filters),
    data: z.array(redemptionSchema),
    summary: 'List redemption codes, newest first',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/redemption/search',
    access: 'admin',
    query: z.extend(listQuery(redemptionSortColumns, 100), { ...keywordQuery.shape, ...filters }),
    data: z.array(redemptionSchema),
    summary: 'Search redemption codes by id or by the beginning of their name',
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/redemption/{id}',
    access: 'admin',
    params: idParams,
    data: redemptionSchema,
    summary: 'One redemption code',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/redemption/',
    access: 'admin',
    body: createRedemptionBody,
    ignores: rowFields,
    data: z.array(z.string()),
    summary: 'Create `count` codes (at most 100) worth `quota` each; returns the codes',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/redemption/',
    access: 'admin',
    query: statusOnlyQuery,
    body: updateRedemptionBody,
    ignores: rowFields,
    data: redemptionSchema,
    summary: 'Update the name and quota of a code; with ?status_only=true only the status (1 or 2) of an unused code',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/redemption/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a redemption code',
  }),
  redeem: endpoint({
    method: 'POST',
    path: '/api/user/topup',
    access: 'user',
    body: z.object({ key: z.string().check(z.trim(), z.maxLength(200)) }),
    data: z.int(),
    summary: 'Redeem a code; returns the quota that was added',
  }),
  topUp: endpoint({
    method: 'POST',
    path: '/api/topup',
    access: 'admin',
    body: z.object({ user_id: idField, quota: worth, remark: z._default(text(200), '') }),
    summary: 'Add credit to a user; the remark is written to the log',
  }),
}
