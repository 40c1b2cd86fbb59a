import type { Generated } from 'kysely'
import type {
  AlertDeliveriesTable,
  AlertDestinationsTable,
  AlertEventsTable,
  AlertRulesTable,
  AlertStatesTable,
} from './alert-tables.ts'
import type { BackgroundJobsTable } from './background-job-tables.ts'
import type { BackupsTable } from './backup-tables.ts'
import type { CapCountsTable, CapPlacesTable, CapsTable, CapWaitsTable } from './cap-tables.ts'
import type { CaptureRulesTable, CapturesTable } from './capture-tables.ts'
import type { ChannelDeadKeysTable, ChannelsTable, ChannelTestsTable, DrainSessionsTable } from './channel-tables.ts'
import type { ImportRowsTable, ImportRunsTable, ImportsTable } from './import-tables.ts'
import type { LogSinksTable } from './log-sink-tables.ts'
import type { SessionsTable } from './session-tables.ts'
import type { StatementEmailsTable, StatementOptoutsTable } from './statement-tables.ts'
import type { StoredResponsesTable } from './stored-response-tables.ts'
import type {
  ServiceFailuresTable,
  UsageDatesTable,
  UsageHoursTable,
  UsageSeriesTable,
  UsageSlotsTable,
  UsageStateTable,
} from './usage-tables.ts'
import type { VirtualModelsTable } from './virtual-model-tables.ts'

/**
 * Row types of all tables. Columns that one-api also has keep their names and meanings. "Ours:" marks tables and
 * columns that Tollgate added; one-api does not have them. Times are epoch seconds. Quotas are integer units. SQLite
 * returns booleans as 0 or 1, so read them through `Boolean()`.
 */
export interface UsersTable extends LimitColumns {
  id: Generated<number>
  username: string
  /** An argon2id hash, or an imported bcrypt hash. No password matches an empty hash. */
  password: string
  display_name: string
  role: number
  status: number
  email: string
  github_id: string
  wechat_id: string
  lark_id: string
  oidc_id: string
  /** Ours: the keyed hash of the access token. (one-api stores the token itself.) */
  access_token_hash: string | null
  quota: number
  used_quota: number
  request_count: number
  group: string
  aff_code: string | null
  inviter_id: number
  /** Ours: the quota ever added or removed, except by usage. Equals quota + used_quota + open holds + leases. */
  granted_quota: number
  /** Ours: the part of used_quota whose log rows were purged or never written. */
  unlogged_quota: number
  created_time: number
  /**
   * Ours: the id and host of the linked GitHub account. github_id is its login name, which can pass to another person.
   */
  github_account_id: Generated<string>
  /** Ours: true if the balance was above QuotaRemindThreshold after the last reminder, so the next may be sent. */
  quota_armed: Generated<boolean>
}

/** Ours: limits (0 = none), and the amounts charged in the UTC day and month that contain `spent_at`. */
interface LimitColumns {
  rpm_limit: Generated<number>
  tpm_limit: Generated<number>
  concurrency_limit: Generated<number>
  daily_budget: Generated<number>
  monthly_budget: Generated<number>
  spent_today: Generated<number>
  spent_month: Generated<number>
  spent_at: Generated<number>
}

export interface TokensTable extends LimitColumns {
  id: Generated<number>
  user_id: number
  /** The 48 characters of the key after `sk-`, encrypted. */
  key: string
  /** Ours: the keyed hash of the key, for lookups. */
  key_hash: string
  status: number
  name: string
  created_time: number
  accessed_time: number
  expired_time: number
  remain_quota: number
  unlimited_quota: boolean
  used_quota: number
  models: string | null
  subnet: string | null
  /** As in new-api: the group that determines channels and ratio; '' = the owner's group. */
  group: Generated<string>
  /** Ours: like users.granted_quota. It is also updated for unlimited tokens. */
  granted_quota: number
  unlogged_quota: number
  /** Ours: the previous key, encrypted like the current one; empty if there is none or it is no longer valid. */
  old_key: Generated<string>
  old_key_hash: Generated<string | null>
  /** The time (epoch seconds) from which on the old key is refused; 0 if there is none. */
  old_key_until: Generated<number>
  /** Ours: the project for which the owner uses the token; '' = none. Lists and totals can be grouped by it. */
  project: Generated<string>
}

/** Ours: the objects that a configuration file manages, by their section and name in the file. */
export interface ConfigMarksTable {
  section: string
  name: string
  /** The file, or the person who sent it. */
  source: string
}

/** Ours: the last run of a job that only one node may run at a time, and its progress. */
export interface JobRunsTable {
  name: string
  started_at: number
  /** The time of the last report from the node that runs the job. */
  updated_at: number
  /** 0 while the job runs. */
  finished_at: number
  total: number
  done: number
  failed: number
}

export interface AbilitiesTable {
  group: string
  model: string
  channel_id: number
  enabled: boolean
  priority: number
}

export interface RedemptionsTable {
  id: Generated<number>
  user_id: number
  key: string
  status: number
  name: string
  quota: number
  created_time: number
  redeemed_time: number
  /** Ours: the user who redeemed the code; 0 = nobody yet. */
  redeemed_user_id: number
  /** Ours: the last second in which the code can be redeemed; 0 = it never expires. */
  expired_time: Generated<number>
}

export interface LogsTable {
  id: Generated<number>
  user_id: number
  created_at: number
  type: number
  content: string
  username: string
  token_name: string
  model_name: string
  quota: number
  prompt_tokens: number
  completion_tokens: number
  channel_id: number
  request_id: string
  /** Milliseconds from the caller's request to the end of the response. */
  elapsed_time: number
  is_stream: boolean
  system_prompt_reset: boolean
  /** Tollgate added the following columns. */
  token_id: number
  /** Milliseconds to the first byte of the response; 0 = none. */
  first_byte_time: number
  cached_tokens: number
  reasoning_tokens: number
  /** True if the gateway counted the usage itself, because the upstream reported no credible usage. */
  estimated: boolean
  /** How the call ended: complete, aborted, interrupted, failed. */
  outcome: string
  /** JSON array of the channels that were tried, each with status and time; '' if the first channel served the call. */
  attempts: string
  /** The model that the caller named; '' if it equals `model_name`. */
  asked_model: Generated<string>
  /** For failed calls: the path that was called. */
  endpoint: Generated<string>
  /** For failed calls: the HTTP status and the error code of the response. */
  status: Generated<number>
  code: Generated<string>
  /** For failed calls: the upstream's message, truncated. */
  upstream_message: Generated<string>
  /** The cost of the call for the operator, in quota units; null = not known. */
  cost: Generated<number | null>
  /** For failed calls: the number of other calls that share this row, and the time at which the first one began. */
  left_out: Generated<number>
  left_out_since: Generated<number>
  /** True if the channel and key of the call's session served the call; null = the call has no session. */
  kept_place: boolean | null
  /** Details of the request as JSON, without its content; null for rows of earlier versions and other types. */
  request: Generated<string | null>
}

/**
 * Ours: the number of log rows that were written in a minute for the failed calls of a token with one error code. The
 * limit on these rows applies to all nodes together.
 */
export interface ErrorMinutesTable {
  token_id: number
  code: string
  /** Minutes since 1970. */
  minute: number
  log_rows: number
  /** The time at which the last row that several calls share was written, in epoch seconds. */
  summed_at: number
}

/** Ours: the failed attempts at a channel in an hour, no matter how the calls ended. */
export interface ChannelFailuresTable {
  channel_id: number
  model_name: string
  /** Hours since 1970. */
  slot: number
  attempts: number
}

export interface OptionsTable {
  key: string
  value: string
  /** Ours: `value` is encrypted with the secret key. */
  sealed: Generated<boolean>
}

export interface HoldsTable {
  id: string
  user_id: number
  token_id: number
  amount: number
  /**
   * The units charged if the process that owns the hold dies: the price of the estimated prompt and of the output that
   * is known to have been delivered.
   */
  crash_charge: number
  /** The last channel that was tried, and the tokens of the crash charge. */
  channel_id: Generated<number>
  prompt_tokens: Generated<number>
  completion_tokens: Generated<number>
  node_id: string
  created_at: number
  model_name: string
  request_id: string
  /** 1 if the hold was taken from the token's remain_quota, too, because the token is limited. */
  token_limited: boolean
  /**
   * 0 = no limit was in force. 1 = the call counts as an open call. 2 is added if the call is in the token's per-minute
   * counts, 4 if it is in the user's, and 8 if the caps of its channel count it.
   */
  counted: Generated<number>
  /** The second of `limit_windows` in which the call is counted, and the tokens counted in that second. */
  window_second: Generated<number>
  window_tokens: Generated<number>
}

/**
 * Ours: a part of a balance that a process has taken in advance for future calls. It is in neither the balance nor a
 * hold. For every user, left + held + leased + used = granted. The same is true for tokens with a quota of their own.
 */
export interface LeasesTable {
  id: string
  node_id: string
  user_id: number
  token_id: number
  /** True if the amount was taken from the token's remain_quota, too. */
  token_limited: boolean
  amount: number
  /**
   * Rises with every batch that takes from the lease. A batch with an old version fails, so it is not applied twice.
   */
  version: number
  created_at: number
}

/** Ours: the usage of tokens and users with limits in each second of the last minute. */
export interface LimitWindowsTable {
  owner: 'token' | 'user'
  owner_id: number
  /** Epoch seconds. */
  second: number
  calls: number
  tokens: number
}

export interface NodesTable {
  id: string
  host: string
  pid: number
  started_at: number
  heartbeat_at: number
}

export interface OneTimeCodesTable {
  id: Generated<number>
  purpose: string
  subject: string
  code_hash: string
  attempts: number
  created_time: number
  expires_time: number
}

/** Ours: the number and times of emails to an address. The emails are limited, so that nobody can flood a mailbox. */
export interface MailLimitsTable {
  recipient: string
  last_time: number
  window_start: number
  sent: number
}

export interface AuditEventsTable {
  id: Generated<number>
  created_at: number
  /** 0 if nobody is logged in. */
  actor_id: number
  actor_name: string
  /** The action, as `object.verb`, such as `channel.update`. */
  action: string
  /** The target, such as `channel 7`. */
  target: string
  detail: string
  ip: string
}

/** Ours: temporary tokens issued by services, shared by all nodes. */
export interface AccessTokensTable {
  name_hash: string
  /** Encrypted. */
  value: string
  /** Epoch seconds. */
  expires_time: number
}

export interface Tables {
  users: UsersTable
  tokens: TokensTable
  channels: ChannelsTable
  drain_sessions: DrainSessionsTable
  abilities: AbilitiesTable
  redemptions: RedemptionsTable
  logs: LogsTable
  log_sinks: LogSinksTable
  options: OptionsTable
  config_marks: ConfigMarksTable
  sessions: SessionsTable
  holds: HoldsTable
  leases: LeasesTable
  limit_windows: LimitWindowsTable
  nodes: NodesTable
  one_time_codes: OneTimeCodesTable
  statement_emails: StatementEmailsTable
  statement_optouts: StatementOptoutsTable
  stored_responses: StoredResponsesTable
  background_jobs: BackgroundJobsTable
  mail_limits: MailLimitsTable
  audit_events: AuditEventsTable
  backups: BackupsTable
  access_tokens: AccessTokensTable
  caps: CapsTable
  cap_counts: CapCountsTable
  cap_places: CapPlacesTable
  cap_waits: CapWaitsTable
  capture_rules: CaptureRulesTable
  captures: CapturesTable
  channel_dead_keys: ChannelDeadKeysTable
  channel_tests: ChannelTestsTable
  imports: ImportsTable
  import_rows: ImportRowsTable
  import_runs: ImportRunsTable
  job_runs: JobRunsTable
  error_minutes: ErrorMinutesTable
  channel_failures: ChannelFailuresTable
  service_failures: ServiceFailuresTable
  usage_series: UsageSeriesTable
  usage_dates: UsageDatesTable
  usage_hours: UsageHoursTable
  usage_days: UsageSlotsTable
  usage_weeks: UsageSlotsTable
  usage_state: UsageStateTable
  alert_destinations: AlertDestinationsTable
  alert_rules: AlertRulesTable
  alert_states: AlertStatesTable
  alert_events: AlertEventsTable
  alert_deliveries: AlertDeliveriesTable
  virtual_models: VirtualModelsTable
}
