import type { Log } from '../../../contract/api/log.ts'
import type { LogRow } from '../../store/logs/log-pages.ts'
import type { Db } from '../../store/store.ts'
import { usageNames } from '../../store/usage/usage-query.ts'

/** A log row as admins see it. */
export function fullView({ channel_id, ...row }: LogRow): Log {
  // A model that no channel serves is not in the log's sums, but it is the model that the caller requested.
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

/**
 * A log row as its owner sees it. Only the operator sees which upstream served a call, its cost, and the upstream's
 * message.
 */
export function ownView(row: LogRow): Log {
  const { cost: _cost, ...seen } = fullView(row)
  return { ...seen, channel: 0, attempts: '', upstream_message: '', kept_place: null }
}
