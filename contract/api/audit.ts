import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { listQuery, looseNumberFilter, wordFilter } from './list-query.ts'

/** An action of a person, as the audit log records it. */
export const auditSchema = z.object({
  id: z.int(),
  created_at: z.int().check(z.describe('Epoch seconds.')),
  /** 0 if nobody was logged in. */
  actor_id: z.int(),
  actor_name: z.string(),
  /** `object.verb`, for example `channel.update`. */
  action: z.string(),
  target: z.string(),
  detail: z.string(),
  ip: z.string(),
})

export type AuditRow = z.output<typeof auditSchema>

const time = looseNumberFilter(Number.MAX_SAFE_INTEGER, 'Epoch seconds, inclusive. 0 means no limit.')

export const auditApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/audit/',
    access: 'admin',
    query: z.extend(listQuery(['id', 'created_at']), {
      actor: wordFilter(200, 'Name or id of the user who acted; empty means all.'),
      action: wordFilter(200, 'Prefix of the action. For example, `user.` matches every change to users.'),
      start_timestamp: time,
      end_timestamp: time,
    }),
    data: z.array(auditSchema),
    summary: 'List who did what to the installation, newest first',
  }),
}
