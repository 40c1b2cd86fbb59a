import type { User } from '../../contract/api/user.ts'
import type { UserRow } from '../store/users.ts'

/** A user with every field empty; answers that show a few fields fill them in. */
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
}

/** What the answer of a login shows. */
export function loginView(user: Pick<UserRow, 'id' | 'username' | 'display_name' | 'role' | 'status' | 'group'>): User {
  const { id, username, display_name, role, status, group } = user
  return { ...blankUser, id, username, display_name, role, status, group }
}

/** A row as the API shows it. */
export function userView(row: UserRow): User {
  return { ...blankUser, ...row, aff_code: row.aff_code ?? '' }
}
