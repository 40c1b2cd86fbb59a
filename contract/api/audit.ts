import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { text } from './fields.ts'
import { listQuery } from './list-query.ts'

/** Something that a person did to the installation. */
export const auditSchema = z.object({
  id: z.number(),
  created_at: z.number().check(z.describe('Epoch seconds.')),
  /** 0 when nobody was logged in. */
  actor_id: z.number(),
  actor_name: z.string(),
  /** `object.verb`: `channel.update`. */
  action: z.string(),
  target: z.string(),
  detail: z.string(),
  ip: z.string(),
})

export type AuditRow = z.output<typeof auditSchema>

// Filters that cannot be read count as not set, as in the lists of logs.
const time = z.catch(z.coerce.number<string>().check(z.int(), z.gte(0)), 0)
const word = z.catch(text(200), '')

export const auditApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/audit/',
    access: 'admin',
    query: z.extend(listQuery(['id', 'created_at']), {
      /** A user name or the number of a user. */
      actor: word,
      /** How the action begins: `user.` finds every change of users. */
      action: word,
      start_timestamp: time,
      end_timestamp: time,
    }),
    data: z.array(auditSchema),
    summary: 'Who did what to the installation, newest first',
  }),
}
