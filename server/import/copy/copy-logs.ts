import { logType } from '../../../contract/log-types.ts'
import type { OpenedStore } from '../../store/connection/open-options.ts'
import { bookLogged } from '../../store/imports/books.ts'
import { type BulkColumns, bulkInsert } from '../../store/imports/bulk-insert.ts'
import { advanceLog, type ImportRow } from '../../store/imports/journal.ts'
import { createCoverTimes } from '../../store/logs/partitions/add-months.ts'
import { collectMemory } from '../collect-memory.ts'
import { integer } from '../fields.ts'
import type { Program } from '../program.ts'
import { type LogDraft, readLog } from '../rows/log-row.ts'
import type { SourceDatabase, SourceRow } from '../sources/source-database.ts'

const columns: BulkColumns = [
  ['user_id', 'integer'],
  ['created_at', 'integer'],
  ['type', 'integer'],
  ['content', 'text'],
  ['username', 'text'],
  ['token_name', 'text'],
  ['model_name', 'text'],
  ['quota', 'integer'],
  ['prompt_tokens', 'integer'],
  ['completion_tokens', 'integer'],
  ['channel_id', 'integer'],
  ['request_id', 'text'],
  ['elapsed_time', 'integer'],
  ['is_stream', 'boolean'],
  ['system_prompt_reset', 'boolean'],
  ['token_id', 'integer'],
  ['first_byte_time', 'integer'],
  ['cached_tokens', 'integer'],
  ['reasoning_tokens', 'integer'],
  ['status', 'integer'],
  ['code', 'text'],
  ['upstream_message', 'text'],
]

const timeColumn = columns.findIndex(([name]) => name === 'created_at')

const rowsPerStep = 2000
const stepsPerCollection = 25

/** The ids in this installation, by the ids of the source. */
export interface LogIds {
  users: ReadonlyMap<number, number>
  channels: ReadonlyMap<number, number>
  tokens: ReadonlyMap<number, number>
  /** Token ids by `<user id>\n<token name>` in the source; 0 if the user has several tokens with this name. */
  tokensByName: ReadonlyMap<string, number>
}

/** The input for copying the log. */
export interface LogWork {
  store: OpenedStore
  source: SourceDatabase
  program: Program
  /** The stored state of the import, from which copying continues. */
  import: ImportRow
  ids: LogIds
  /** Only rows up to this id are copied, because the source may add rows during the copy. */
  upTo: number
  /** Only rows from this time on are copied, in epoch seconds; 0 = all. */
  since: number
  nowSeconds(): number
  progress(done: number): void
}

/**
 * Copies the log in steps. Each step is one transaction that also records the progress, so an interrupted run continues
 * where it stopped.
 */
export async function copyLogs(work: LogWork): Promise<void> {
  const { store, source, upTo } = work
  const write = store.writeUnlimited ?? store.write
  const wanted = wantedColumns(source)
  const coverTimes = createCoverTimes(work.nowSeconds())
  let after = work.import.log_id
  let done = 0
  let steps = 0
  let next = source.page('logs', { after, upTo, limit: rowsPerStep, columns: wanted })
  for (;;) {
    const rows = await next
    if (rows.length === 0) return
    after = integer(rows.at(-1) ?? {}, 'id')
    const isLast = rows.length < rowsPerStep
    // The next rows are read while the current ones are written.
    next = isLast ? Promise.resolve([]) : source.page('logs', { after, upTo, limit: rowsPerStep, columns: wanted })
    next.catch(() => undefined)
    const step = stepOf(work, rows)
    await write(async (trx) => {
      await coverTimes(
        trx,
        step.values.map((values) => Number(values[timeColumn])),
      )
      await bulkInsert(trx, 'logs', columns, step.values)
      await bookLogged(trx, step.sums)
      await advanceLog(trx, work.import.id, {
        logId: after,
        rows: step.values.length,
        charges: step.charges,
        quota: step.quota,
        now: work.nowSeconds(),
      })
    })
    done += rows.length
    if (++steps % stepsPerCollection === 0) collectMemory()
    work.progress(done)
  }
}

/** The columns that the import reads, without those that the source lacks. */
function wantedColumns({ tables }: SourceDatabase): string[] {
  const there = tables.get('logs') ?? new Set<string>()
  const wanted = [
    ...['id', 'user_id', 'created_at', 'type', 'content', 'username', 'token_name', 'model_name', 'quota'],
    ...['prompt_tokens', 'completion_tokens', 'channel_id', 'request_id', 'elapsed_time', 'request_time', 'use_time'],
    ...['is_stream', 'system_prompt_reset', 'token_id', 'other', 'metadata', 'cached_prompt_tokens'],
  ]
  return wanted.filter((name) => there.has(name))
}

interface Step {
  values: unknown[][]
  sums: Record<'users' | 'tokens' | 'channels', Map<number, number>>
  charges: number
  quota: number
}

function stepOf(work: LogWork, rows: readonly SourceRow[]): Step {
  const step: Step = {
    values: [],
    sums: { users: new Map(), tokens: new Map(), channels: new Map() },
    charges: 0,
    quota: 0,
  }
  for (const row of rows) {
    const draft = readLog(row, work.program)
    if (draft.createdAt < work.since) continue
    const ids = idsOf(work, draft)
    step.values.push(valuesOf(draft, ids))
    if (draft.type !== logType.consume) continue
    step.charges++
    step.quota += draft.quota
    add(step.sums.users, ids.user, draft.quota)
    add(step.sums.tokens, ids.token, draft.quota)
    add(step.sums.channels, ids.channel, draft.quota)
  }
  return step
}

function add(sums: Map<number, number>, id: number, quota: number): void {
  sums.set(id, (sums.get(id) ?? 0) + quota)
}

/**
 * The ids of a row's user, channel and token in this installation. If the source no longer has the user, channel or
 * token, its old id is kept if it is reserved in this installation, so that no new row can get it. Otherwise the id
 * becomes 0.
 */
function idsOf({ ids, import: row }: LogWork, draft: LogDraft) {
  const gone = (id: number, known: number) => (row.is_fresh && id > 0 && id <= known ? id : 0)
  const named = ids.tokensByName.get(`${draft.userId}\n${draft.tokenName}`)
  return {
    user: ids.users.get(draft.userId) ?? gone(draft.userId, row.known_users),
    channel: ids.channels.get(draft.channelId) ?? gone(draft.channelId, row.known_channels),
    token:
      draft.tokenId > 0
        ? (ids.tokens.get(draft.tokenId) ?? gone(draft.tokenId, row.known_tokens))
        : draft.tokenName === ''
          ? 0
          : (named ?? 0),
  }
}

function valuesOf(draft: LogDraft, ids: { user: number; channel: number; token: number }): unknown[] {
  return [
    ids.user,
    draft.createdAt,
    draft.type,
    draft.content,
    draft.username,
    draft.tokenName,
    draft.modelName,
    draft.quota,
    draft.promptTokens,
    draft.completionTokens,
    ids.channel,
    draft.requestId,
    draft.elapsed,
    draft.isStream,
    draft.promptReset,
    ids.token,
    draft.firstByte,
    draft.cachedTokens,
    draft.reasoningTokens,
    draft.status,
    draft.code,
    draft.upstreamMessage,
  ]
}
