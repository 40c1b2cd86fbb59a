import * as z from 'zod/mini'
import { endpoint, idParams } from './endpoint.ts'
import { listQuery } from './list-query.ts'

/** A token as administrators see it, without anything that is part of a key. */
export const userTokenSchema = z.object({
  id: z.int(),
  name: z.string(),
  project: z.string().check(z.describe('The project to which the owner assigned the token; empty means none.')),
  status: z
    .int()
    .check(z.describe('Status of the token if it were used now: 1 enabled, 2 disabled, 3 expired, 4 exhausted.')),
  group: z.string().check(z.describe("Group of the token; empty means the owner's group.")),
  created_time: z.int().check(z.describe('Epoch seconds.')),
  accessed_time: z
    .int()
    .check(z.describe('Time of the last request in epoch seconds; the time of creation if there was none.')),
  expired_time: z.int().check(z.describe('Epoch seconds; -1 means never.')),
  used_quota: z.int().check(z.describe('Quota units.')),
  remain_quota: z.int().check(z.describe('Remaining quota units; there is no limit while unlimited_quota is true.')),
  unlimited_quota: z.boolean(),
})

export type UserToken = z.output<typeof userTokenSchema>

/** A session of the console, without its secret, so that administrators cannot use the session themselves. */
export const userSessionSchema = z.object({
  id: z.string().check(z.describe('Id of the session in this API. It is not the value of the cookie.')),
  created_time: z.int().check(z.describe('When the user logged in, in epoch seconds.')),
  last_seen_time: z
    .int()
    .check(z.describe('When the session was last used, in epoch seconds, recorded at most every five minutes.')),
  expires_time: z.int().check(z.describe('When the session ends by itself, in epoch seconds.')),
  address: z.string().check(z.describe('IP address of the last request of the session; empty means not known.')),
  client: z
    .string()
    .check(
      z.describe('The beginning of the User-Agent header of the last request of the session; empty means not known.'),
    ),
  current: z.boolean().check(z.describe('True for the session that makes this request.')),
})

export type UserSession = z.output<typeof userSessionSchema>

export const userTokenSortColumns = ['id', 'name', 'used_quota', 'accessed_time'] as const

const tokenParams = z.object({
  id: z.coerce.number<string>().check(z.int(), z.positive(), z.describe('Id of the user.')),
  token: z.coerce.number<string>().check(z.int(), z.positive(), z.describe('Id of the token.')),
})

const sessionParams = z.object({
  id: z.coerce.number<string>().check(z.int(), z.positive(), z.describe('Id of the user.')),
  session: z.string().check(z.regex(/^[0-9a-f]{16}$/), z.describe('Id of the session.')),
})

/** With these endpoints, administrators can see and disable the tokens, and see and end the sessions, of others. */
export const userAccessApi = {
  tokens: endpoint({
    method: 'GET',
    path: '/api/user/{id}/tokens',
    access: 'admin',
    params: idParams,
    query: listQuery(userTokenSortColumns),
    data: z.array(userTokenSchema),
    summary: 'List the tokens of a user with a lower role, newest first, without their keys',
  }),
  setTokenStatus: endpoint({
    method: 'PUT',
    path: '/api/user/{id}/tokens/{token}',
    access: 'admin',
    params: tokenParams,
    body: z.object({ status: z.int().check(z.describe('1 to enable the token, 2 to disable it.')) }),
    data: userTokenSchema,
    summary: 'Enable or disable a token of a user with a lower role',
    description: 'The owner can change the status, too. To end all access of a user, disable the account.',
  }),
  sessions: endpoint({
    method: 'GET',
    path: '/api/user/{id}/sessions',
    access: 'admin',
    params: idParams,
    query: listQuery(['last_seen_time', 'created_time']),
    data: z.array(userSessionSchema),
    summary: 'List the console sessions of a user with a lower role, the most recently used first',
  }),
  endSession: endpoint({
    method: 'DELETE',
    path: '/api/user/{id}/sessions/{session}',
    access: 'admin',
    params: sessionParams,
    summary: 'End a session of a user with a lower role',
  }),
  endSessions: endpoint({
    method: 'DELETE',
    path: '/api/user/{id}/sessions',
    access: 'admin',
    params: idParams,
    data: z.int().check(z.describe('How many sessions ended.')),
    summary: 'End all console sessions of a user with a lower role; the access token of the user stays valid',
    description: 'For your own account, the session that makes this request continues.',
  }),
}
