import { logType } from '../../../contract/log-types.ts'
import type { JsonObject } from '../../lib/json.ts'
import { integer, integerOf, mostQuota, object, seconds, text, textOf, truth } from '../fields.ts'
import type { Program } from '../program.ts'
import type { SourceRow } from '../sources/source-database.ts'

/** A log row of the source in Tollgate's terms, with the ids of the source. */
export interface LogDraft {
  userId: number
  createdAt: number
  type: number
  content: string
  username: string
  tokenName: string
  modelName: string
  quota: number
  promptTokens: number
  completionTokens: number
  channelId: number
  requestId: string
  /** Milliseconds. */
  elapsed: number
  firstByte: number
  isStream: boolean
  promptReset: boolean
  /** 0 if the source does not contain it. */
  tokenId: number
  cachedTokens: number
  reasoningTokens: number
  status: number
  code: string
  upstreamMessage: string
}

/** Row types whose number differs in Tollgate. */
const types: Readonly<Partial<Record<Program['name'], Readonly<Record<number, number>>>>> = {
  'new-api': { 5: logType.error, 6: logType.system },
  'one-hub': { 5: logType.system },
  // 6 is a charge that is held but not yet settled, and 7 is the charge for a tool.
  laisky: { 6: logType.consume, 7: logType.consume },
}

/** The program's type numbers for rows that are charges. */
export function chargeTypes({ name }: Program): number[] {
  const others = Object.entries(types[name] ?? {}).filter(([, type]) => type === logType.consume)
  return [logType.consume, ...others.map(([stored]) => Number(stored))]
}

const knownTypes: ReadonlySet<number> = new Set(Object.values(logType))

/** Reads a log row. */
export function readLog(row: SourceRow, program: Program): LogDraft {
  const stored = integer(row, 'type')
  const type = types[program.name]?.[stored] ?? (knownTypes.has(stored) ? stored : logType.system)
  const details = program.name === 'one-hub' ? object(row, 'metadata') : detailsOf(row, program, type)
  const content = text(row, 'content')
  return {
    userId: integer(row, 'user_id'),
    createdAt: seconds(row, 'created_at'),
    type,
    content,
    username: text(row, 'username'),
    tokenName: text(row, 'token_name'),
    modelName: text(row, 'model_name'),
    quota: within(integer(row, 'quota')),
    promptTokens: within(integer(row, 'prompt_tokens')),
    completionTokens: within(integer(row, 'completion_tokens')),
    channelId: integer(row, 'channel_id'),
    requestId: text(row, 'request_id'),
    elapsed: Math.max(
      0,
      integer(row, 'elapsed_time') || integer(row, 'request_time') || integer(row, 'use_time') * 1000,
    ),
    firstByte: Math.max(0, integerOf(details?.['frt'] ?? details?.['first_response'])),
    isStream: truth(row, 'is_stream'),
    promptReset: truth(row, 'system_prompt_reset'),
    tokenId: integer(row, 'token_id'),
    cachedTokens: Math.max(
      0,
      integerOf(details?.['cache_tokens'] ?? details?.['cached_tokens'] ?? row['cached_prompt_tokens']),
    ),
    reasoningTokens: Math.max(0, integerOf(details?.['reasoning_tokens'])),
    status: type === logType.error ? integerOf(details?.['status_code']) : 0,
    code: type === logType.error ? textOf(details?.['error_code'] ?? details?.['error_type']) : '',
    upstreamMessage: type === logType.error ? content.slice(0, 2000) : '',
  }
}

/** The details that new-api stores for charges and errors. For other rows, they need not be parsed. */
function detailsOf(row: SourceRow, { name }: Program, type: number): JsonObject | undefined {
  if (name !== 'new-api' || (type !== logType.consume && type !== logType.error)) return undefined
  return object(row, 'other')
}

const within = (value: number) => (Math.abs(value) <= mostQuota ? value : 0)
