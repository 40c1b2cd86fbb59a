import * as z from 'zod/mini'
import type { Log } from '../../../contract/api/log.ts'
import { type LogRequest, logRequestSchema } from '../../../contract/api/log-request.ts'
import { isObject, tryParse } from '../../lib/json.ts'
import type { LogRow } from '../../store/logs/log-pages.ts'
import type { Db } from '../../store/store.ts'
import { usageNames } from '../../store/usage/usage-query.ts'

/** A log row as admins see it in lists. Lists do not contain the field `request`. */
export function fullView({ channel_id, request: _request, ...row }: LogRow): Log {
  // The row has no `model_name` if no channel serves the model, so that the model is not in the hourly sums. In this
  // case, the requested model is shown.
  const isUnknown = row.model_name === ''
  return {
    ...row,
    model_name: isUnknown ? row.asked_model : row.model_name,
    asked_model: isUnknown ? '' : row.asked_model,
    channel: channel_id,
    is_stream: Boolean(row.is_stream),
    system_prompt_reset: Boolean(row.system_prompt_reset),
    estimated: Boolean(row.estimated),
    kept_place: row.kept_place === null ? null : Boolean(row.kept_place),
  }
}

/** Rows as admins see them, with the current names of their channels. */
export async function namedViews(db: Db, rows: readonly LogRow[]): Promise<Log[]> {
  const ids = [...new Set(rows.map((row) => row.channel_id).filter((id) => id > 0))]
  const names = await usageNames(db, 'channel_id', ids)
  return rows.map((row) => {
    const name = names.get(row.channel_id)
    return { ...fullView(row), ...(name !== undefined && { channel_name: name }) }
  })
}

/** Rows of a search as admins see them. */
export async function foundViews(db: Db, rows: readonly LogRow[]): Promise<Log[]> {
  const views = await namedViews(db, rows)
  return views.map((view, index) => withRequest(view, rows[index]?.request))
}

/**
 * A row of a search as its owner sees it. The upstream's dialect is omitted, because it would reveal the kind of
 * channel.
 */
export function ownFoundView(row: LogRow): Log {
  const { request, ...view } = withRequest(ownView(row), row.request)
  if (!request) return view
  const { upstream_dialect: _hidden, ...own } = request
  return { ...view, request: own }
}

function withRequest(view: Log, stored: string | null | undefined): Log {
  const request = stored ? requestOf(stored) : undefined
  return request ? { ...view, request } : view
}

/**
 * The properties of a request (path, API formats, client and parameters) from the stored JSON; undefined if it cannot
 * be parsed.
 */
function requestOf(stored: string): LogRequest | undefined {
  const value = tryParse(stored)
  if (!isObject(value)) return undefined
  const { path, from, to, client, with: parameters = {} } = value
  return z.safeParse(logRequestSchema, { path, dialect: from, upstream_dialect: to, client, parameters }).data
}

/**
 * A log row as its owner sees it. The upstream that served a call, its cost and its message are visible only to the
 * operator.
 */
export function ownView(row: LogRow): Log {
  const { cost: _cost, ...seen } = fullView(row)
  return { ...seen, channel: 0, attempts: '', upstream_message: '', kept_place: null }
}
