import { beforeAll } from 'bun:test'
import { password } from '../../../tools/seed/people.ts'
import { type Account, type Console, openConsole } from './console.ts'
import { openDatabase } from './database.ts'

/** An installation that `npm run seed` has filled: 60 channels, 300 users and 20,000 calls of the last 60 days. */
export function openSeededConsole(): Console {
  const site = openConsole()
  beforeAll(() => site.seed(), 300_000)
  return site
}

/** A small installation that `npm run seed` has filled, and on which nothing needs attention. */
export function openHealthyConsole(): Console {
  const site = openConsole()
  beforeAll(() => site.seed('--healthy', '--calls', '1500', '--users', '40', '--channels', '12'), 300_000)
  return site
}

/** The example user who made the most calls. */
export function busiestUser(site: Console): Account {
  using database = openDatabase(site)
  const row = database
    .query('select username from logs where type = 2 group by username order by count(*) desc limit 1')
    .get() as { username: string }
  return { username: row.username, password }
}

export interface FailedRow {
  request_id: string
  upstream_message: string
  channel: string
}

/** The newest failed request whose channel responded with an error. */
export function newestFailure(site: Console): FailedRow {
  using database = openDatabase(site)
  return database
    .query(
      `select request_id, upstream_message, channels.name as channel from logs join channels on channels.id = channel_id
       where logs.type = 6 and upstream_message <> '' order by logs.id desc limit 1`,
    )
    .get() as FailedRow
}
