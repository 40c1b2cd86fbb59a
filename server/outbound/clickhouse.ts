import { createHash } from 'node:crypto'
import { messageOf } from '../lib/message-of.ts'
import { fetchPlain } from '../lib/network/fetch-plain.ts'
import type { LogSink, SinkRow } from './log-sink.ts'
import type { MetadataGuard } from './metadata-guard.ts'

export interface ClickHouseAddress {
  /** The URL of the server, without a path. */
  url: string
  database: string
  user: string
  password: string
}

const tableName = 'tollgate_logs'
const timeoutMs = 30_000
const longestAnswer = 300
/**
 * The latest time that is stored. Later times can only be errors, and ClickHouse's type DateTime ends in 2106, so they
 * are replaced by this time.
 */
const lastSecond = Date.UTC(2100, 0) / 1000
/**
 * The first major version of ClickHouse that recognizes a repeated insert by its `insert_deduplication_token`
 * (ClickHouse changelog, 22.2).
 */
const firstWithTokens = 22

const text = (name: string) => [name, 'String']
const int = (name: string) => [name, 'Int64']
const columns: readonly (readonly string[])[] = [
  int('id'),
  ['created_at', "DateTime('UTC')"],
  ...['type', 'user_id', 'token_id', 'channel_id'].map(int),
  ...['username', 'token_name', 'model_name', 'asked_model', 'request_id'].map(text),
  ...['quota', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'reasoning_tokens'].map(int),
  ['cost', 'Nullable(Int64)'],
  ...['elapsed_time', 'first_byte_time'].map(int),
  ...['is_stream', 'estimated'].map((name) => [name, 'UInt8']),
  ...['outcome', 'endpoint'].map(text),
  ...['status', 'left_out'].map(int),
  ...['code', 'upstream_message', 'content', 'attempts', 'request'].map(text),
]

/**
 * Writes log rows into a ClickHouse table over HTTP. The table contains each row exactly once, provided that only one
 * process writes at a time. After an attempt whose result is unknown, `send` rejects while the server is still
 * executing that insert. Once the server has finished, `send` reads which of the rows are in the table and inserts the
 * others.
 */
export function createClickHouse(address: ClickHouseAddress, guard: MetadataGuard): LogSink {
  const table = `${address.database}.${tableName}`
  let major: number | undefined
  let mayHaveMore = true

  const ask = (query: string, body = '', parameters: Readonly<Record<string, string>> = {}) =>
    request(address, guard, query, body, parameters)

  async function prepare(): Promise<number> {
    const known = Number.parseInt(await ask('select version()'), 10)
    const list = columns.map((column) => column.join(' ')).join(', ')
    const settings = known >= firstWithTokens ? ' settings non_replicated_deduplication_window = 1000' : ''
    await ask(
      `create table if not exists ${table} (${list}) engine = MergeTree partition by toYYYYMM(created_at) order by (created_at, id)${settings}`,
    )
    return known
  }

  /** The keys (see `keyOf`) of the stored rows whose ids and times are in the range of `rows`. */
  async function keysThere(rows: readonly SinkRow[]): Promise<Set<string>> {
    const times = rows.map(({ created_at }) => inRange(created_at))
    const busy = await ask(`select count() from system.processes where query like 'insert into ${table} %'`)
    if (Number(busy) > 0) throw new Error('ClickHouse is still working on an earlier attempt')
    const found = await ask(
      `select toString(id) as key, toString(toUnixTimestamp(created_at)) as at, request_id as request from ${table}
        where id >= ${rows[0]?.id} and id <= ${rows.at(-1)?.id} and created_at >= toDateTime(${Math.min(...times)}, 'UTC')
        and created_at <= toDateTime(${Math.max(...times)}, 'UTC') format JSONEachRow`,
    )
    const lines = found.split('\n').filter((line) => line !== '')
    return new Set(lines.map((line) => keyOf(JSON.parse(line) as StoredKey)))
  }

  return {
    async send(rows) {
      major ??= await prepare()
      const there = mayHaveMore ? await keysThere(rows) : new Set<string>()
      const missing = rows.filter(
        (row) => !there.has(keyOf({ key: row.id, at: inRange(row.created_at), request: row.request_id })),
      )
      if (missing.length > 0) {
        mayHaveMore = true
        const body = missing.map((row) => `${JSON.stringify(storedRow(row))}\n`).join('')
        const token = createHash('sha256').update(body).digest('hex')
        await ask(
          `insert into ${table} (${columns.map(([name]) => name).join(', ')}) format JSONEachRow`,
          body,
          major >= firstWithTokens ? { insert_deduplication_token: token } : {},
        )
      }
      mayHaveMore = false
    },
    async check() {
      major = await prepare()
    },
    async forget(before) {
      major ??= await prepare()
      const month = new Date(before * 1000).toISOString().slice(0, 7).replace('-', '')
      const found = await ask(
        `select distinct partition from system.parts where database = '${address.database}' and table = '${tableName}' and active order by partition`,
      )
      for (const partition of found.split('\n'))
        if (/^\d{6}$/.test(partition) && partition < month)
          await ask(`alter table ${table} drop partition ${partition}`)
    },
  }
}

interface StoredKey {
  key: number | string
  at: number | string
  request: string
}

const keyOf = ({ key, at, request }: StoredKey) => `${key} ${at} ${request}`

const inRange = (seconds: number) => Math.min(lastSecond, Math.max(0, seconds))

function storedRow(row: SinkRow): Record<string, string | number | null> {
  return Object.fromEntries(
    columns.map(([name = '', type = '']) => {
      const value = row[name] ?? null
      if (name === 'created_at') return [name, inRange(row.created_at)]
      return [name, value === null && type === 'String' ? '' : value]
    }),
  )
}

async function request(
  { url, database, user, password }: ClickHouseAddress,
  guard: MetadataGuard,
  query: string,
  body: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const search = new URLSearchParams({ database, query, ...parameters })
  const response = await post(`${url}/?${search}`, guard, {
    method: 'POST',
    headers: { ...(user !== '' && { 'x-clickhouse-user': user, 'x-clickhouse-key': password }) },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const answer = await response.text()
  // ClickHouse may detect an error after it has sent the status.
  if (response.status !== 200 || response.headers.has('x-clickhouse-exception-code'))
    throw new Error(`ClickHouse responded with status ${response.status}: ${answer.slice(0, longestAnswer).trim()}`)
  return answer.trim()
}

async function post(url: string, guard: MetadataGuard, init: Parameters<typeof fetchPlain>[1]): Promise<Response> {
  try {
    await guard.check(url)
    return await fetchPlain(url, init)
  } catch (error) {
    throw new Error(`ClickHouse cannot be reached: ${messageOf(error)}`)
  }
}
