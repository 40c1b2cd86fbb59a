import * as z from 'zod/mini'
import { endpoint, idParams, keywordQuery } from './endpoint.ts'
import { idField, maxQuota, quotaField, text, trimmedText } from './fields.ts'
import { limitsShown, limitsWritten } from './limit-fields.ts'
import { listQuery, numberFilter, wordFilter } from './list-query.ts'
import { mixesAlphabets } from './scripts.ts'

/** The rules for a username. They are checked when an account is created and when its name changes. */
export const usernameSchema = z.string().check(
  z.trim(),
  // Normalises each letter to one form. Otherwise two names with full-width or composed letters could look the same and
  // still be different.
  z.normalize('NFKC'),
  z.refine((value) => [...value].length >= 1 && [...value].length <= 12, { error: 'must have 1 to 12 characters' }),
  z.regex(/^[\p{L}\p{N}_.-]*$/u, { error: 'may contain only letters, digits, dots, hyphens and underscores' }),
  z.refine((value) => !mixesAlphabets(value), { error: 'must not mix look-alike letters of different alphabets' }),
  z.describe('1 to 12 characters: letters and digits of any script, dots, hyphens and underscores.'),
)

/** The rules for a new password. */
export const passwordSchema = z.string().check(
  z.refine((value) => [...value].length >= 8, { error: 'must have at least 8 characters' }),
  z.refine((value) => value.length <= 128, { error: 'may have at most 128 characters' }),
  z.meta({ minLength: 8, maxLength: 128 }),
)

const displayName = trimmedText(20)
const group = trimmedText(32).check(z.refine((value) => !value.includes(','), { error: 'must be one group' }))

/** A user as the API shows it. Secrets are always empty, but present, because clients expect the fields. */
export const userSchema = z.object({
  id: z.int(),
  username: z.string(),
  password: z.literal(''),
  display_name: z.string(),
  role: z.int().check(z.describe('1 user, 10 admin, 100 root.')),
  status: z.int().check(z.describe('1 enabled, 2 banned, 3 deleted.')),
  email: z.string(),
  github_id: z.string(),
  wechat_id: z.string(),
  lark_id: z.string(),
  oidc_id: z.string(),
  verification_code: z.literal(''),
  access_token: z.literal(''),
  quota: z.int().check(z.describe('Quota units left.')),
  used_quota: z.int().check(z.describe('Quota units.')),
  request_count: z.int().check(z.describe('Calls made.')),
  group: z.string().check(z.describe('The group, which determines the available models and the ratio.')),
  aff_code: z.string().check(z.describe('The invite code.')),
  inviter_id: z.int().check(z.describe('Id of the inviter; 0 means nobody.')),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  ...limitsShown,
  /** Tollgate added this field; one-api does not have it. */
  spent_at: z.int().check(z.describe('When a request was last charged, in epoch seconds; 0 means never.')),
})

export type User = z.output<typeof userSchema>

export const userSortColumns = [
  'id',
  'username',
  'display_name',
  'email',
  'group',
  'quota',
  'used_quota',
  'request_count',
  'role',
  'status',
  'created_time',
  'spent_at',
] as const

export const createUserBody = z.object({
  username: usernameSchema,
  display_name: z.optional(displayName),
  password: passwordSchema,
  role: z.optional(z.int()),
})

/** Omitted fields stay unchanged. An empty username, password or group also changes nothing. */
export const updateUserBody = z.object({
  id: idField,
  username: z.optional(z.string().check(z.maxLength(100))),
  display_name: z.optional(displayName),
  password: z.optional(z.union([z.literal(''), passwordSchema])),
  group: z.optional(group),
  role: z.optional(z.int()),
  status: z.optional(z.int()),
  quota: z.nullish(quotaField.check(z.describe('The new balance, which replaces the current one.'))),
  quota_delta: z.optional(
    quotaField.check(
      z.describe(
        'Amount to add to the balance. If you set quota instead, charges of calls that are running at the same time are overwritten.',
      ),
    ),
  ),
  ...limitsWritten,
})

export const updateSelfBody = z.object({
  username: z.optional(z.string().check(z.maxLength(100))),
  display_name: z.optional(displayName),
  password: z.optional(z.union([z.literal(''), passwordSchema])),
})

export const manageActions = ['disable', 'enable', 'delete', 'promote', 'demote'] as const

/** All fields of an account. one-api's console sends all of them back when it saves an account. */
export const userFields = Object.keys(userSchema.shape)

/** Filters for lists of users; 0 and '' mean any. */
const filters = {
  role: numberFilter(100, '1 user, 10 admin, 100 root; 0 = all.'),
  status: numberFilter(2, '1 enabled, 2 banned; 0 = all.'),
  group: wordFilter(32, 'Only users of this group.'),
  quota_below: numberFilter(maxQuota, 'Only users whose balance is below this many quota units; 0 = all.'),
}

export const userApi = {
  self: endpoint({
    method: 'GET',
    path: '/api/user/self',
    access: 'user',
    data: userSchema,
    summary: "Get the caller's own account",
  }),
  updateSelf: endpoint({
    method: 'PUT',
    path: '/api/user/self',
    access: 'user',
    body: updateSelfBody,
    ignores: userFields,
    summary:
      "Update the caller's own name, display name or password; a new password ends all other sessions and revokes the access token",
  }),
  deleteSelf: endpoint({
    method: 'DELETE',
    path: '/api/user/self',
    access: 'user',
    summary: "Delete the caller's own account",
  }),
  accessToken: endpoint({
    method: 'GET',
    path: '/api/user/token',
    access: 'user',
    changesState: true,
    data: z.string(),
    summary: 'Create a new access token for the management API; the old one stops working',
  }),
  aff: endpoint({
    method: 'GET',
    path: '/api/user/aff',
    access: 'user',
    changesState: true,
    data: z.string(),
    summary: "Get the caller's own invite code; a link with it is <address>/register?aff=<code>",
  }),
  availableModels: endpoint({
    method: 'GET',
    path: '/api/user/available_models',
    access: 'user',
    query: z.object({
      group: z.optional(
        text(32).check(z.describe("A group that the caller may choose for a token; default: the caller's own.")),
      ),
    }),
    data: z.array(z.string()),
    summary: "List the models that the caller's group can use",
  }),
  groups: endpoint({
    method: 'GET',
    path: '/api/user/self/groups',
    access: 'user',
    data: z.record(
      z.string(),
      z.object({
        desc: z.string().check(z.describe("The administrator's description.")),
        ratio: z.number().check(z.describe('The ratio of the group, by which every price is multiplied.')),
      }),
    ),
    summary: 'List the groups that the caller may choose for a token: their own group and those that everybody may use',
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/user/',
    access: 'admin',
    query: z.extend(listQuery(userSortColumns), filters),
    data: z.array(userSchema),
    summary: 'List users, newest first',
  }),
  search: endpoint({
    method: 'GET',
    path: '/api/user/search',
    access: 'admin',
    query: z.extend(listQuery(userSortColumns, 100), { ...keywordQuery.shape, ...filters }),
    data: z.array(userSchema),
    summary: 'Search users by id, or by the beginning of their name, display name or email address',
  }),
  get: endpoint({
    method: 'GET',
    path: '/api/user/{id}',
    access: 'admin',
    params: idParams,
    data: userSchema,
    summary: 'Get a user with a lower role',
  }),
  create: endpoint({
    method: 'POST',
    path: '/api/user/',
    access: 'admin',
    body: createUserBody,
    ignores: userFields,
    data: userSchema,
    summary: 'Create an ordinary account',
  }),
  update: endpoint({
    method: 'PUT',
    path: '/api/user/',
    access: 'admin',
    body: updateUserBody,
    ignores: userFields,
    data: userSchema,
    summary: 'Update a user; fields that are not sent stay unchanged',
  }),
  manage: endpoint({
    method: 'POST',
    path: '/api/user/manage',
    access: 'admin',
    body: z.object({ username: z.string().check(z.maxLength(100)), action: z.enum(manageActions) }),
    data: z.object({ status: z.int(), role: z.int() }),
    summary: 'Disable, enable, delete, promote or demote a user',
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/user/{id}',
    access: 'admin',
    params: idParams,
    summary: 'Delete a user with a lower role',
  }),
}
