import type { Database } from 'bun:sqlite'

/** A complete call by root without usage. */
const usual = {
  user_id: 1,
  created_at: 0,
  type: 2,
  content: '',
  username: 'root',
  token_name: '',
  model_name: '',
  quota: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  channel_id: 0,
  request_id: '',
  elapsed_time: 0,
  is_stream: 0,
  system_prompt_reset: 0,
  token_id: 0,
  first_byte_time: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  estimated: 0,
  outcome: 'complete',
  attempts: '',
}

/** Writes log rows with the given values; other fields have the values in `usual`. Times are in epoch seconds. */
export function logWriter(database: Database): (row: Partial<typeof usual>) => void {
  const names = Object.keys(usual)
  const places = names.map(() => '?').join(', ')
  const statement = database.prepare(`insert into logs (${names.join(', ')}) values (${places})`)
  return (row) => void statement.run(...Object.values({ ...usual, ...row }))
}
