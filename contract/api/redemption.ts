import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery, statusOnlyQuery } from './endpoint.ts'
import { idField, maxQuota, text, trimmedText } from './fields.ts'
import { listQuery, numberFilter, wordFilter } from './list-query.ts'

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
  redeemed_time: z.int().check(z.describe('When the code was redeemed, in epoch seconds; 0 means not yet.')),
  count: z.literal(0),
  /** Added by Tollgate: the user who redeemed the code; 0 = nobody yet. */
  redeemed_user_id: z.int(),
  /** Added by Tollgate: the username of the user who redeemed the code; empty if nobody did or if the user is gone. */
  redeemed_username: z.string().check(z.describe('Who redeemed the code; empty if nobody did.')),
  expired_time: z
    .int()
    .check(z.describe('The last second in which the code can be redeemed; 0 means it never expires.')),
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
  'expired_time',
] as const

/** All codes with one name, counted. Sums of quota are capped at the largest exact integer. */
export const redemptionBatchSchema = z.object({
  name: z.string(),
  made: z.int().check(z.describe('Number of codes, without deleted ones.')),
  unused: z.int().check(z.describe('Codes that can be redeemed now.')),
  used: z.int().check(z.describe('Codes that were redeemed.')),
  disabled: z.int().check(z.describe('Codes that were disabled before anybody redeemed them.')),
  expired: z.int().check(z.describe('Unused codes that have expired.')),
  quota: z.int().check(z.describe('Value of all codes in quota units.')),
  used_quota: z.int().check(z.describe('Value of the used codes.')),
  outstanding_quota: z.int().check(z.describe('Value of the codes that can be redeemed now.')),
  created_time: z.int().check(z.describe('When the newest code was created, in epoch seconds.')),
  redeemed_time: z.int().check(z.describe('When a code was last redeemed, in epoch seconds; 0 means never.')),
})

export type RedemptionBatch = z.output<typeof redemptionBatchSchema>

export const redemptionBatchColumns = [
  'name',
  'made',
  'unused',
  'used',
  'disabled',
  'expired',
  'quota',
  'used_quota',
  'outstanding_quota',
  'created_time',
  'redeemed_time',
] as const

/** Filters for codes, in the list and in a search. */
const filters = {
  status: numberFilter(4, '1 unused, 2 disabled, 3 used, 4 unused but expired; 0 = all.'),
  batch: wordFilter(200, 'Only codes with exactly this name.'),
}

/** The maximum number of codes that one call can create. */
export const maxRedemptions = 100

export const redemptionName = trimmedText(20).check(z.minLength(1, { error: 'must not be empty' }))

const worth = z.int().check(z.gte(1), z.lte(maxQuota))

/** How many codes to create at once. */
export const redemptionCount = z.int().check(z.gte(1), z.lte(maxRedemptions))

/** The maximum length of a prefix. Codes stay 32 characters long, so at least 80 bits of a code are random. */
export const maxCodePrefix = 12

/** The text with which all codes of a batch begin. */
export const codePrefix = z
  .string()
  .check(
    z.trim(),
    z.maxLength(maxCodePrefix),
    z.regex(/^[\w-]*$/, { error: 'may contain only letters, digits, dashes and underscores' }),
    z.describe('What each code begins with; the rest of its 32 characters is random.'),
  )

const expiry = z
  .int()
  .check(
    z.gte(0),
    z.lte(1e12),
    z.describe('The last second in which the codes can be redeemed, in epoch seconds; 0 means they never expire.'),
  )

export const createRedemptionBody = z.object({
  name: redemptionName,
  quota: worth,
  count: z._default(redemptionCount, 1),
  expired_time: z._default(expiry, 0),
  prefix: z._default(codePrefix, ''),
})

/** Omitted fields stay unchanged. `status` is accepted, but only a `status_only` request changes it. */
export const updateRedemptionBody = z.object({
  id: idField,
  name: z.optional(z.string().check(z.trim(), z.maxLength(200))),
  quota: z.optional(worth),
  status: z.optional(z.int()),
  expired_time: z.optional(expiry),
})

/** All fields of a code. one-api's console sends all of them back when it saves a code. */
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
  batches: endpoint({
    method: 'GET',
    path: '/api/redemption/batches',
    access: 'admin',
    query: z.extend(listQuery(redemptionBatchColumns), {
      keyword: z._default(z.string().check(z.describe('The beginning of the name; empty means any.')), ''),
    }),
    data: z.array(redemptionBatchSchema),
    summary: 'Count redemption codes by name: how many are unused, used, disabled and expired, and their value',
  }),
  switchBatch: endpoint({
    method: 'PUT',
    path: '/api/redemption/batches',
    access: 'admin',
    body: z.object({
      name: z.string().check(z.maxLength(200)),
      status: z.int().check(z.describe('1 enables the disabled codes, 2 disables the unused codes.')),
    }),
    data: z.int(),
    summary: 'Disable all unused codes with the given name, or enable all disabled ones; returns their number',
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/redemption/{id}',
    access: 'admin',
    params: idParams,
    data: redemptionSchema,
    summary: 'Get a redemption code',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/redemption/',
    access: 'admin',
    body: createRedemptionBody,
    ignores: rowFields,
    data: z.array(z.string()),
    summary:
      'Create `count` codes (at most 100) worth `quota` each, with an optional expiry and prefix; returns the codes',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/redemption/',
    access: 'admin',
    query: statusOnlyQuery,
    body: updateRedemptionBody,
    ignores: rowFields,
    data: redemptionSchema,
    summary:
      'Update the name, quota and expiry of a code; with ?status_only=true only the status (1 or 2) of an unused code',
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
