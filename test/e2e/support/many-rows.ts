import type { Console } from './console.ts'
import { openDatabase } from './database.ts'
import { logWriter } from './log-rows.ts'

export interface Amounts {
  logs: number
  channels: number
  users: number
}

const models = [
  'gpt-4o',
  'gpt-4o-mini',
  'claude-sonnet-5',
  'deepseek-chat',
  'gemini-3.5-flash',
  'a-model-with-a-long-name',
]
const day = 86_400

/**
 * Writes as much data as accumulates in many years. It goes directly into the database, because creating so many rows
 * through the API would take too long.
 */
export function fillWithMany(console: Console, amounts: Amounts, nowSeconds = Math.floor(Date.now() / 1000)): void {
  using database = openDatabase(console)
  const columnsOf = (table: string, own: readonly string[]) =>
    database
      .query<{ name: string }, []>(`pragma table_info(${table})`)
      .all()
      .map(({ name }) => name)
      .filter((name) => !own.includes(name))
      .map((name) => `"${name}"`)
      .join(', ')
  const copies = (table: string, own: Record<string, (index: number) => string | number>, count: number) => {
    const names = Object.keys(own)
    const rest = columnsOf(table, ['id', 'access_token_hash', ...names])
    const statement = database.prepare(
      `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}, ${rest})
       select ${names.map(() => '?').join(', ')}, ${rest} from ${table} order by id ${table === 'logs' ? 'desc ' : ''}limit 1`,
    )
    for (let index = 1; index <= count; index++) statement.run(...names.map((name) => own[name]?.(index) ?? ''))
  }
  // All rows are copied from the first row of their table.
  logWriter(database)({
    created_at: nowSeconds,
    content: 'ratio: 1.25 × 4 × 1',
    token_name: 'first',
    model_name: 'gpt-4o',
    quota: 60,
    prompt_tokens: 20,
    completion_tokens: 1,
    channel_id: 1,
    elapsed_time: 900,
    token_id: 1,
    first_byte_time: 120,
  })
  database.transaction(() => {
    copies(
      'users',
      {
        username: (index) => `person ${index}`,
        display_name: (index) => `Person number ${index}`,
        email: (index) => `person${index}@example.com`,
        role: (index) => (index % 100 === 0 ? 10 : 1),
        status: (index) => (index % 30 === 0 ? 2 : 1),
        group: (index) => (index % 7 === 0 ? 'vip' : 'default'),
        quota: (index) => index * 12_345,
        used_quota: (index) => index * 777,
        aff_code: (index) => `code${index}`,
      },
      amounts.users,
    )
    copies(
      'channels',
      {
        name: (index) => `channel ${index}`,
        type: (index) => [1, 8, 14, 3, 20][index % 5] ?? 1,
        status: (index) => (index % 40 === 0 ? 3 : index % 20 === 0 ? 2 : 1),
        response_time: (index) => (index * 37) % 7000,
        balance: (index) => (index * 13) % 500,
        test_time: (index) => nowSeconds - index * 60,
      },
      amounts.channels,
    )
    copies(
      'logs',
      {
        created_at: (index) => nowSeconds - Math.floor((index / amounts.logs) * 60 * day),
        username: (index) => `person ${1 + (index % 50)}`,
        token_name: (index) => `token ${index % 20}`,
        model_name: (index) => models[index % models.length] ?? '',
        quota: (index) => (index * 7919) % 90_000,
        prompt_tokens: (index) => (index * 31) % 9000,
        completion_tokens: (index) => (index * 17) % 900,
        request_id: (index) => `request-${index}`,
      },
      amounts.logs,
    )
  })()
}
