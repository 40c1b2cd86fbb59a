import type { ImportPart } from '../../../contract/api/import.ts'
import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { randomHex } from '../../lib/secrets/ids.ts'
import {
  counted,
  integer,
  isDeleted,
  isUnreadable,
  isZeroDate,
  mostQuota,
  numberOf,
  seconds,
  text,
  trimmed,
} from '../fields.ts'
import type { Findings } from '../findings.ts'
import type { Program } from '../program.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { limitValues } from './limit-columns.ts'

/** A user of the source in Tollgate's terms. Amounts are in quota units. */
export interface UserDraft {
  id: number
  username: string
  displayName: string
  /** A bcrypt hash, which is replaced at the first login; '' = no password. */
  password: string
  role: number
  status: number
  email: string
  githubId: string
  githubAccountId: string
  wechatId: string
  larkId: string
  oidcId: string
  accessToken: string
  quota: number
  used: number
  requests: number
  group: string
  affCode: string
  inviterId: number
  createdTime: number
  /** In the order of `limitColumns`. */
  limits: number[]
}

const maxGroup = 64

/**
 * The status of a row. A missing one is that of a new row, which is enabled. One that is not a number could mean
 * anything, so the row is disabled, and not enabled by mistake.
 */
export function storedStatus(
  row: SourceRow,
  kinds: { part: ImportPart; new: number; disabled: number },
  example: string,
  findings: Findings,
): number {
  if (!isUnreadable(row, 'status')) return integer(row, 'status', kinds.new)
  findings.add(kinds.part, 'The status is not a number. The row is disabled.', `${example}: ${text(row, 'status')}`)
  return kinds.disabled
}

/** Reports a deletion time of MySQL that is no time. Its program treats the row as deleted. */
export function reportZeroDate(row: SourceRow, part: ImportPart, example: string, findings: Findings): void {
  if (isZeroDate(row['deleted_at']))
    findings.add(
      part,
      'The deletion time is 0000-00-00. The source treats the row as deleted, and so does the import.',
      example,
    )
}

/** Reads a user. Fields without a counterpart become leftovers. */
export function readUser(row: SourceRow, program: Program, findings: Findings): UserDraft {
  const id = integer(row, 'id')
  reportZeroDate(row, 'users', `user ${id}`, findings)
  const deleted = isDeleted(row) || integer(row, 'status', 1) === userStatus.deleted
  const base = {
    id,
    role: roleOf(integer(row, 'role', roles.user)),
    quota: amount(row, 'quota', `user ${id}`, findings) + withoutBudget(row, findings),
    used: amount(row, 'used_quota', `user ${id}`, findings),
    requests: Math.max(0, counted(row, 'request_count')),
    group: trimmed(row, 'group').slice(0, maxGroup) || 'default',
    inviterId: integer(row, 'inviter_id'),
    createdTime: seconds(row, 'created_time') || seconds(row, 'created_at'),
    limits: limitValues(row),
  }
  if (deleted) return { ...base, ...nobody() }
  const password = trimmed(row, 'password')
  const isHash = password === '' || /^\$2[abxy]?\$\d\d\$.{53}$/.test(password) || password.startsWith('$argon2')
  if (!isHash) findings.add('users', 'The password has an unknown form. It cannot be used; reset it.', `user ${id}`)
  const kinds = { part: 'users' as const, new: userStatus.enabled, disabled: userStatus.disabled }
  const status = storedStatus(row, kinds, `user ${id}`, findings)
  reportRest(row, id, findings)
  const hubGitHub = program.name === 'one-hub' ? integer(row, 'github_id_new') : 0
  const github = trimmed(row, 'github_id')
  // New-api stores the numeric id of the GitHub account here instead of its login name.
  const isNumber = program.name === 'new-api' && /^\d+$/.test(github)
  return {
    ...base,
    username: trimmed(row, 'username') || `user_${id}`,
    displayName: trimmed(row, 'display_name') || trimmed(row, 'username'),
    password: isHash ? password : '',
    status: status === userStatus.enabled ? userStatus.enabled : userStatus.disabled,
    email: trimmed(row, 'email'),
    githubId: isNumber ? '' : github,
    githubAccountId: hubGitHub > 0 ? `${hubGitHub}@github.com` : isNumber ? `${github}@github.com` : '',
    wechatId: trimmed(row, 'wechat_id'),
    larkId: trimmed(row, 'lark_id'),
    oidcId: trimmed(row, 'oidc_id'),
    accessToken: trimmed(row, 'access_token'),
    affCode: trimmed(row, 'aff_code'),
  }
}

/**
 * In LiteLLM, a user without a budget is unlimited. In Tollgate, every user has a balance, so this returns the balance
 * that such a user gets; 0 for other users.
 */
function withoutBudget(row: SourceRow, findings: Findings): number {
  const given = integer(row, 'without_budget')
  if (given > 0)
    findings.add(
      'users',
      `The user has no budget in the source. Here, the user gets a balance of ${given}.`,
      text(row, 'username'),
    )
  return given
}

/** The values for a deleted account. Its row is imported, so that its log rows and usage have an owner. */
function nobody() {
  return {
    username: `deleted_${randomHex(16)}`,
    displayName: '',
    password: '',
    status: userStatus.deleted,
    email: '',
    githubId: '',
    githubAccountId: '',
    wechatId: '',
    larkId: '',
    oidcId: '',
    accessToken: '',
    affCode: '',
  }
}

function roleOf(role: number): number {
  if (role >= roles.root) return roles.root
  return role >= roles.admin ? roles.admin : roles.user
}

/** An amount that an account can have. Negative amounts become 0, because a balance is never below 0. */
export function amount(row: SourceRow, column: string, example: string, findings: Findings): number {
  const value = integer(row, column)
  if (isUnreadable(row, column))
    findings.add('amounts', `A ${column} that is not a number is set to 0.`, `${example}: ${text(row, column)}`)
  else if (Math.abs(value) <= mostQuota && !Number.isInteger(numberOf(row[column]) ?? 0))
    findings.add('amounts', `The fraction of a ${column} is dropped.`, `${example}: ${text(row, column)}`)
  if (value >= 0 && value <= mostQuota) return value
  if (value < 0) findings.add('amounts', `A negative ${column} is set to 0.`, `${example}: ${value}`)
  else findings.add('amounts', `A ${column} above ${mostQuota} is lowered to it.`, `${example}: ${value}`)
  return value < 0 ? 0 : mostQuota
}

/** External logins of kinds that Tollgate does not support, and rewards that were not paid out. */
const withoutPlace: Readonly<Record<string, string>> = {
  telegram_id: 'The Telegram login has no counterpart.',
  discord_id: 'The Discord login has no counterpart.',
  linux_do_id: 'The LINUX DO login has no counterpart.',
  totp_secret: 'Two-factor authentication has no counterpart: the user logs in with the password alone.',
  aff_quota: 'Rewards for invitations that the user had not yet moved to the balance are not imported.',
  remark: 'The note about the user has no counterpart.',
  setting: 'The personal settings (notifications) have no counterpart.',
  mcp_tool_blacklist: 'The list of MCP tools that the user may not call has no counterpart.',
  metadata: 'The other settings of the user have no counterpart.',
  stripe_customer: 'The Stripe customer has no counterpart.',
}

function reportRest(row: SourceRow, id: number, findings: Findings): void {
  for (const [column, sentence] of Object.entries(withoutPlace)) {
    const value = text(row, column)
    if (value === '' || value === '0' || value === '{}' || value === '[]' || value === 'null') continue
    findings.leave({ kind: 'user', id: `user ${id}`, reason: column, data: { [column]: value } }, sentence)
  }
}
