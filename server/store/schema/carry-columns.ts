import type { Generated } from 'kysely'

/** Added by Tollgate: the settings that a channel applies to its calls, and the prices of its upstream. */
export interface CarryColumns {
  /** `tags` are comma-separated labels. `remark` is a note for admins. */
  tags: Generated<string>
  remark: Generated<string>
  test_model: Generated<string>
  organization: Generated<string>
  project: Generated<string>
  /** The encrypted text of a JSON object of header names and values; '' = none. */
  headers: Generated<string>
  /** The text of a JSON array of operations, and the text of a JSON object of statuses; '' = none. */
  parameters: Generated<string>
  status_map: Generated<string>
  /** The URL of a proxy, and its encrypted login; '' = none. */
  proxy: Generated<string>
  proxy_login: Generated<string>
  /** The text of a JSON object with the upstream's prices; '' = unknown. */
  costs: Generated<string>
}

/** The columns of the settings that a channel applies to its calls, without the upstream's prices. */
export const carryColumns = [
  'tags',
  'remark',
  'test_model',
  'organization',
  'project',
  'headers',
  'parameters',
  'status_map',
  'proxy',
  'proxy_login',
] as const satisfies readonly (keyof CarryColumns)[]
