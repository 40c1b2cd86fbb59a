import type { Log } from '../../contract/api/log.ts'

/**
 * The id of a row for the URL. It does not depend on `log.id` alone, because on some servers all rows have the id 0.
 */
export function rowIdOf(log: Log): string {
  return log.id > 0 ? String(log.id) : `${log.created_at}.${log.model_name}.${log.quota}.${log.prompt_tokens}`
}
