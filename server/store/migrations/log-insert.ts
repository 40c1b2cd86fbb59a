/**
 * The columns of a log row that the ledger writes, without `quota`, and the types with which they are read from JSON.
 */
const logColumns = {
  user_id: 'bigint',
  created_at: 'bigint',
  type: 'bigint',
  content: 'text',
  username: 'text',
  token_name: 'text',
  model_name: 'text',
  prompt_tokens: 'bigint',
  completion_tokens: 'bigint',
  channel_id: 'bigint',
  request_id: 'text',
  elapsed_time: 'bigint',
  is_stream: 'boolean',
  system_prompt_reset: 'boolean',
  token_id: 'bigint',
  first_byte_time: 'bigint',
  cached_tokens: 'bigint',
  reasoning_tokens: 'bigint',
  estimated: 'boolean',
  outcome: 'text',
  attempts: 'text',
  asked_model: 'text',
  kept_place: 'boolean',
  cost: 'bigint',
  request: 'text',
}

/**
 * The statement that inserts log rows from the JSON in `log_rows`. `beside` is an array with one more number for each
 * row. `expressions` calculate the columns that the JSON does not contain; in them, the number is `l.n`.
 */
export function insertLogs(beside: string, expressions: Readonly<Record<string, string>>, where = ''): string {
  const names = Object.keys(logColumns)
  const all = { asked_model: "coalesce(l.asked_model, '')", ...expressions }
  const columns = [...new Set([...names, ...Object.keys(all)])]
  const types = Object.entries(logColumns).map(([name, type]) => `${name} ${type}`)
  return `insert into logs (${columns.join(', ')})
      select ${columns.map((name) => all[name as keyof typeof all] ?? `l.${name}`).join(', ')}
      from rows from (unnest(${beside}), jsonb_to_recordset(log_rows) as (${types.join(', ')})) as l(n, ${names.join(', ')})
      ${where};`
}
