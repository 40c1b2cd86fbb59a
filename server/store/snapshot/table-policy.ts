import type { Tables } from '../schema/tables.ts'

/**
 * Determines whether the rows of a table are included in a copy of an installation. `always`: the rows are included,
 * because they belong to the installation. `moved`: the rows are included when the installation is moved to another
 * database, but not in a backup. They are logins and other temporary secrets, which may no longer be valid when the
 * backup is restored. `never`: the rows are not included, because they belong to running processes.
 */
export type TablePolicy = 'always' | 'moved' | 'never'

/**
 * The policy of every table of this and of earlier versions. The compiler reports a table that is missing. A table that
 * a later migration removes stays in this list.
 */
export const tablePolicies = {
  users: 'always',
  tokens: 'always',
  channels: 'always',
  abilities: 'always',
  redemptions: 'always',
  logs: 'always',
  log_sinks: 'always',
  options: 'always',
  sessions: 'moved',
  holds: 'always',
  leases: 'always',
  limit_windows: 'always',
  nodes: 'never',
  one_time_codes: 'moved',
  statement_emails: 'always',
  statement_optouts: 'always',
  stored_responses: 'always',
  background_jobs: 'always',
  mail_limits: 'always',
  audit_events: 'always',
  backups: 'always',
  access_tokens: 'moved',
  caps: 'always',
  cap_counts: 'always',
  cap_places: 'always',
  cap_waits: 'never',
  capture_rules: 'always',
  captures: 'always',
  config_marks: 'always',
  imports: 'always',
  import_rows: 'always',
  // Another installation cannot use these rows: they refer to sources that it may not reach, and to uploaded files that
  // are not copied.
  import_runs: 'never',
  virtual_models: 'always',
  channel_dead_keys: 'always',
  drain_sessions: 'always',
  channel_tests: 'always',
  job_runs: 'always',
  error_minutes: 'always',
  channel_failures: 'always',
  service_failures: 'always',
  usage_series: 'always',
  usage_dates: 'always',
  usage_hours: 'always',
  usage_days: 'always',
  usage_weeks: 'always',
  usage_state: 'always',
  // The next two tables have rows only within a transaction.
  usage_fold: 'never',
  usage_part: 'never',
  alert_destinations: 'always',
  alert_rules: 'always',
  alert_states: 'always',
  alert_events: 'always',
  alert_deliveries: 'always',
} as const satisfies Record<keyof Tables | 'usage_fold' | 'usage_part', TablePolicy>

/** Sequences that do not belong to a column. */
export const looseSequences = ['cap_tickets'] as const

/**
 * The names of all tables, in an order in which rows can be inserted. Each table comes after the tables to which it
 * refers.
 */
export const tableNames = Object.keys(tablePolicies) as (keyof typeof tablePolicies)[]
