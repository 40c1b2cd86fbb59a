import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'

const time = (description: string) => z.int().check(z.describe(description))

/** A backup that was made or attempted. */
export const backupSchema = z.object({
  id: z.int(),
  started_at: time('Epoch seconds.'),
  finished_at: time('When the backup ended or failed, in epoch seconds; 0 while it is being made.'),
  made_by: z.string().check(z.describe('`schedule`, `command line`, or the name of the person who asked for it.')),
  place: z.enum(['files', 's3']).check(z.describe('Whether the backup is a file or an object in the object store.')),
  host: z.string().check(z.describe('Host name of the machine that has the file.')),
  path: z.string().check(z.describe('The path of the file, or the key of the object.')),
  bytes: z.int().check(z.describe('Size of the file; 0 until it is finished.')),
  error: z.string().check(z.describe('Why the backup failed; empty if it did not.')),
})

export type BackupEntry = z.output<typeof backupSchema>

export const backupApi = {
  list: endpoint({
    method: 'GET',
    path: '/api/backup/',
    access: 'root',
    data: z.object({
      next_at: time('Epoch seconds at which the next backup is due; 0 if backups are off.'),
      backups: z.array(backupSchema).check(z.describe('The newest backups, newest first.')),
    }),
    summary: 'List the newest 20 backups',
  }),
  start: endpoint({
    method: 'POST',
    path: '/api/backup/',
    access: 'root',
    summary: 'Start a backup now, in the place of scheduled backups; the response does not wait for its end',
  }),
}
