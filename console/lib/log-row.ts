import type { Log } from '../../contract/api/log.ts'

/** The id of a row in the URL. It does not rely on `log.id`, because on some servers all rows have the id 0. */
export function rowIdOf(log: Log): string {
  return log.id > 0 ? String(log.id) : `${log.created_at}.${log.model_name}.${log.quota}.${log.prompt_tokens}`
}
