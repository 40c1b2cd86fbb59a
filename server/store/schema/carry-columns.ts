import type { Generated } from 'kysely'

/** Ours: what a channel carries besides its key, and what its upstream charges. */
export interface CarryColumns {
  /** Comma-separated labels, and a note for admins. */
  tags: Generated<string>
  remark: Generated<string>
  test_model: Generated<string>
  organization: Generated<string>
  project: Generated<string>
  /** The encrypted text of a JSON object of header names and values; '' = none. */
  headers: Generated<string>
  /** The text of a JSON array of operations, and of a JSON object of statuses; '' = none. */
  parameters: Generated<string>
  status_map: Generated<string>
  /** The URL of a proxy, and its encrypted login; '' = none. */
  proxy: Generated<string>
  proxy_login: Generated<string>
  /** The text of a JSON object with what the upstream charges; '' = unknown. */
  costs: Generated<string>
}

/** The columns of what a channel carries, without what its upstream charges. */
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
