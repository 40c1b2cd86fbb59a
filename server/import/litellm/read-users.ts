import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { integer, text } from '../fields.ts'
import type { LocalRow } from '../sources/local-sqlite.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { numberOf } from './ids.ts'
import { quotaOf } from './money.ts'
import { budgetOf, valuesWithoutPlace } from './read-budgets.ts'
import type { Reading } from './reading.ts'

/** The balance that a user without a budget gets, in currency units. */
const withoutBudget = 1_000_000

const roleNames: Readonly<Record<string, number>> = { proxy_admin: roles.admin }

/** Reads the users, and creates an account for each. */
export async function readUsers(reading: Reading): Promise<LocalRow[]> {
  const { later } = reading
  const rows = await reading.rows('LiteLLM_UserTable', ['created_at'])
  return rows.map((row) => {
    const id = text(row, 'user_id')
    const name = text(row, 'user_email') || text(row, 'user_alias') || id
    if (/viewer/.test(text(row, 'user_role')))
      later.add('users', 'The user has read-only access in the source. Here, the user becomes an ordinary user.', name)
    later.add(
      'users',
      "LiteLLM's passwords cannot be used here. Give the user a password, or let the user ask for one by email.",
      name,
    )
    for (const [column, value] of valuesWithoutPlace(row))
      later.leave(
        { kind: 'user', id: name, reason: column, data: { user_id: id, [column]: value } },
        `The column ${column} of the user has no counterpart.`,
      )
    return account(reading, row, {
      id: numberOf('user', id),
      username: name,
      displayName: text(row, 'user_alias') || name,
      email: text(row, 'user_email'),
      role: roleNames[text(row, 'user_role')] ?? roles.user,
    })
  })
}

/** Creates an account for keys that belong to a team, to a missing user, or to nobody. */
export function madeAccount(reading: Reading, id: number, username: string, row: SourceRow): LocalRow {
  return account(reading, row, { id, username, displayName: username, email: '', role: roles.user })
}

function account(
  { budgets, quotaPerUnit, later }: Reading,
  row: SourceRow,
  given: { id: number; username: string; displayName: string; email: string; role: number },
): LocalRow {
  const budget = budgetOf(row, budgets, quotaPerUnit)
  const { limits, most } = budget
  if (budget.isOfOtherPeriod)
    later.add(
      'users',
      'The budget is renewed after a time that has no counterpart. What is left of it becomes the balance.',
      `${given.username}: ${text(row, 'budget_duration')}`,
    )
  const used = quotaOf(row['spend'], quotaPerUnit)
  return {
    id: given.id,
    username: given.username,
    password: '',
    display_name: given.displayName,
    role: given.role,
    status: userStatus.enabled,
    email: given.email,
    quota: most === undefined ? 0 : quotaOf(most, quotaPerUnit) - used,
    used_quota: used,
    request_count: 0,
    group: 'default',
    created_time: integer(row, 'created_at'),
    without_budget: most === undefined ? withoutBudget * quotaPerUnit : 0,
    ...limits,
  }
}
