import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { openStore } from '../server/store/connection/open.ts'
import { rollUpUsage } from '../server/store/usage/usage-rollup.ts'
const { url } = JSON.parse(readFileSync('/tmp/wlogs/url.json', 'utf8'))
const store = openStore({ url, unlimited: true })
await sql`truncate usage_fold, usage_part`.execute(store.read)
const t = performance.now()
const timer = setInterval(async () => console.log(((performance.now() - t) / 1000).toFixed(0), (await sql`select folded_to, days_to from usage_state`.execute(store.read)).rows), 15000)
await rollUpUsage(store, Math.floor(Date.now() / 1000), 200000)
clearInterval(timer)
console.log('counted in', performance.now() - t)
// the newest rows, not counted
await sql`insert into logs (user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens, completion_tokens, channel_id, request_id, elapsed_time, token_id, first_byte_time, outcome, attempts)
  select user_id, created_at + 600, type, content, username, token_name, model_name, quota, prompt_tokens, completion_tokens, channel_id, request_id, elapsed_time, token_id, first_byte_time, outcome, attempts from logs where id > (select max(id) - 1900 from logs) order by id`.execute(store.read)
const { rows } = await sql<{ name: string }>`select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(store.read)
for (const { name } of rows) await sql`vacuum analyze ${sql.table(name)}`.execute(store.read)
console.log('all in', performance.now() - t)
process.exit(0)
