import type { User } from '../../contract/api/user.ts'
import type { UserRow } from '../store/accounts/users.ts'
import { spentNow } from './spent-now.ts'

/** A user with every field empty. Responses with only a few fields start from this user and set those fields. */
const blankUser: User = {
  id: 0,
  username: '',
  password: '',
  display_name: '',
  role: 0,
  status: 0,
  email: '',
  github_id: '',
  wechat_id: '',
  lark_id: '',
  oidc_id: '',
  verification_code: '',
  access_token: '',
  quota: 0,
  used_quota: 0,
  request_count: 0,
  group: '',
  aff_code: '',
  inviter_id: 0,
  created_time: 0,
  rpm_limit: 0,
  tpm_limit: 0,
  concurrency_limit: 0,
  daily_budget: 0,
  monthly_budget: 0,
  spent_today: 0,
  spent_month: 0,
  spent_at: 0,
}

/** The user as shown in the response to a login. */
export function loginView(user: Pick<UserRow, 'id' | 'username' | 'display_name' | 'role' | 'status' | 'group'>): User {
  const { id, username, display_name, role, status, group } = user
  return { ...blankUser, id, username, display_name, role, status, group }
}

/** A row as the API shows it. `now` is in epoch seconds. */
export function userView(row: UserRow, now: number): User {
  return { ...blankUser, ...row, ...spentNow(row, now), aff_code: row.aff_code ?? '' }
}
