import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery, statusOnlyQuery } from './endpoint.ts'
import { idField, quotaField, text, trimmedText } from './fields.ts'
import { limitsShown, limitsWritten } from './limit-fields.ts'
import { listQuery, numberFilter, wordFilter } from './list-query.ts'

/** A token as its owner sees it, including the key (48 characters without `sk-`). */
export const tokenSchema = z.object({
  id: z.int(),
  user_id: z.int(),
  key: z
    .string()
    .check(
      z.describe(
        'The key without its prefix sk-. If only the hash of the key was imported, this is empty until the first call with the key.',
      ),
    ),
  status: z.int().check(z.describe('1 enabled, 2 disabled, 3 expired, 4 exhausted.')),
  name: z.string(),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  accessed_time: z.int().check(z.describe('Time of the last call in epoch seconds.')),
  expired_time: z.int().check(z.describe('Epoch seconds; -1 means never.')),
  remain_quota: z.int().check(z.describe('Remaining quota units; there is no limit while unlimited_quota is true.')),
  unlimited_quota: z.boolean(),
  used_quota: z.int().check(z.describe('Quota units.')),
  group: z
    .string()
    .check(
      z.describe(
        "Group that decides which channels serve the token's calls and which ratio applies; empty means the owner's group.",
      ),
    ),
  models: z.nullable(
    z
      .string()
      .check(z.describe('Comma-separated names of the models that the token can use; null or empty means all.')),
  ),
  subnet: z.nullable(
    z.string().check(z.describe('Comma-separated CIDRs from which calls are accepted; null or empty means anywhere.')),
  ),
  project: z.string().check(z.describe('Project that the owner assigned the token to; empty means none.')),
  old_key_until: z
    .int()
    .check(
      z.describe(
        'When the old key, which the last rotation replaced, stops working, in epoch seconds; 0 means that no old key works.',
      ),
    ),
  ...limitsShown,
})

export type Token = z.output<typeof tokenSchema>

export const tokenSortColumns = [
  'id',
  'name',
  'status',
  'project',
  'used_quota',
  'remain_quota',
  'created_time',
  'accessed_time',
  'expired_time',
] as const

/** The longest name of a project. */
export const maxProjectLength = 64

const fields = {
  name: z.optional(text(30).check(z.describe('Name of the token; may be empty.'))),
  remain_quota: z.nullish(quotaField),
  expired_time: z.nullish(
    z
      .int()
      .check(
        z.gte(-1),
        z.lte(1e12),
        z.describe(
          'When the token expires, in epoch seconds; -1 means never. For a new token, 0, null and an omitted value also mean never.',
        ),
      ),
  ),
  unlimited_quota: z.optional(z.boolean()),
  group: z.nullish(
    text(32).check(
      z.describe(
        "Group that decides which channels serve the token's calls and which ratio applies: the owner's own group, or one in the option UserUsableGroups; null or empty means the owner's group.",
      ),
    ),
  ),
  project: z.nullish(
    trimmedText(maxProjectLength).check(
      z.describe(
        'Project for which the token is used, at most 64 characters; tokens are totalled by it. Null or empty means none.',
      ),
    ),
  ),
  models: z.nullish(
    z.string().check(z.maxLength(20_000), z.describe('Comma-separated model names; null or empty means all.')),
  ),
  subnet: z.nullish(
    z
      .string()
      .check(
        z.maxLength(2000),
        z.describe('Comma-separated CIDRs from which calls are accepted; null or empty means anywhere.'),
      ),
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
    quotaField.check(
      z.describe(
        'Amount to add to remain_quota. If you set remain_quota instead, charges of calls that are running at the same time are overwritten.',
      ),
    ),
  ),
})

const filters = {
  status: numberFilter(
    4,
    'Status of the token if it were used now: 1 enabled, 2 disabled, 3 expired, 4 exhausted; 0 = all.',
  ),
  project: wordFilter(maxProjectLength, 'Only tokens of this project; must match exactly.'),
}

/** The tokens of a project, added up. */
export const tokenProjectSchema = z.object({
  project: z.string().check(z.describe('Name of the project; empty for the tokens that have none.')),
  tokens: z.int().check(z.describe('Number of its tokens.')),
  used_quota: z.int().check(z.describe('Quota units that its tokens have used.')),
  token_names: z
    .array(z.string())
    .check(z.describe('The different names of its tokens, by which logs and usage can be filtered; at most 20.')),
})

export type TokenProject = z.output<typeof tokenProjectSchema>

/** The maximum number of projects in one response. */
export const maxProjects = 200

/** A whole key as a person pastes it: with or without `sk-`, and with or without a channel number at the end. */
const pastedKey = z
  .string()
  .check(
    z.trim(),
    z.minLength(16),
    z.maxLength(200),
    z.regex(/^[\w-]+$/, { error: 'may contain only letters, digits, dashes and underscores' }),
    z.describe('The whole key, with or without its prefix sk-.'),
  )

/** The token that a pasted key belongs to, without the key itself. */
export const foundTokenSchema = z.object({
  id: z.int(),
  name: z.string(),
  status: z.int().check(z.describe('1 enabled, 2 disabled, 3 expired, 4 exhausted.')),
  expired_time: z.int().check(z.describe('Epoch seconds; -1 means never.')),
  user_id: z.int().check(z.describe('Id of the owner.')),
  username: z.string().check(z.describe("The owner's username.")),
})

export type FoundToken = z.output<typeof foundTokenSchema>

/** The longest time for which a rotated key stays valid. */
export const maxKeepSeconds = 86_400

/** All fields of a token. one-api's console sends all of them back when it saves a token. */
const rowFields = Object.keys(tokenSchema.shape)

export const tokenApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/token/',
    access: 'user',
    query: z.extend(listQuery(tokenSortColumns), filters),
    data: z.array(tokenSchema),
    summary: "List the caller's own tokens, newest first",
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/token/search',
    access: 'user',
    query: z.extend(listQuery(tokenSortColumns, 100), { ...keywordQuery.shape, ...filters }),
    data: z.array(tokenSchema),
    summary: "Search the caller's own tokens by the beginning of their name",
  }),
  find: endpoint({
    method: 'POST',
    path: '/api/token/find',
    access: 'user',
    body: z.object({ key: pastedKey }),
    data: foundTokenSchema,
    summary: 'Find the token that has this key: one of your own or, for administrators, of any user',
    description: 'The key is compared by its hash and not recorded. A user may try 20 keys a minute.',
  }),
  projects: endpoint({
    method: 'GET',
    path: '/api/token/projects',
    access: 'user',
    data: z.array(tokenProjectSchema),
    summary: "List the projects of the caller's own tokens with their totals, by name; at most 200",
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/token/{id}',
    access: 'user',
    params: idParams,
    data: tokenSchema,
    summary: "Get one of the caller's own tokens",
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/token/',
    access: 'user',
    body: createTokenBody,
    ignores: rowFields,
    data: tokenSchema,
    summary: 'Create a token',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/token/',
    access: 'user',
    query: statusOnlyQuery,
    body: updateTokenBody,
    ignores: rowFields,
    data: tokenSchema,
    summary: 'Update a token; with ?status_only=true only its status (1 or 2)',
  }),
  rotate: endpoint({
    method: 'POST',
    path: '/api/token/{id}/rotate',
    access: 'user',
    params: idParams,
    body: z.object({
      keep_seconds: z._default(
        z
          .int()
          .check(
            z.gte(0),
            z.lte(maxKeepSeconds),
            z.describe('Seconds for which the current key stays valid; 0 ends it at once.'),
          ),
        maxKeepSeconds,
      ),
    }),
    data: tokenSchema,
    summary: 'Give a token a new key; the current key stays valid for up to 24 hours',
    description: 'If an older key from an earlier rotation is still valid, it stops working at once.',
  }),
  endOldKey: endpoint({
    method: 'DELETE',
    path: '/api/token/{id}/old-key',
    access: 'user',
    params: idParams,
    data: tokenSchema,
    summary: 'Stop accepting the old key of a token, which the last rotation replaced',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/token/{id}',
    access: 'user',
    params: idParams,
    summary: 'Delete a token',
  }),
}
