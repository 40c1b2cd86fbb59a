import { tokenStatus } from '../../../contract/statuses.ts'
import { hashedKey } from '../../lib/secrets/token-key.ts'
import { integer, text, textsOf, truth } from '../fields.ts'
import type { LocalRow } from '../sources/local-sqlite.ts'
import type { SourceRow } from '../sources/source-database.ts'
import { numberOf } from './ids.ts'
import { quotaOf } from './money.ts'
import { budgetOf, valuesWithoutPlace } from './read-budgets.ts'
import { madeAccount } from './read-users.ts'
import type { Reading } from './reading.ts'

/** The name of the account that pays for keys without a user or team. */
const ofNobody = 'litellm-keys'

/**
 * Converts LiteLLM's keys to tokens. Creates an account for each owner that is not among `users`. LiteLLM stores only
 * the hashes of keys, so the tokens have hashes instead of keys.
 */
export async function readKeys(
  reading: Reading,
  users: readonly LocalRow[],
): Promise<{ tokens: LocalRow[]; made: LocalRow[]; owners: Map<string, number> }> {
  const teams = new Map((await reading.rows('LiteLLM_TeamTable', [])).map((row) => [text(row, 'team_id'), row]))
  const rows = await reading.rows('LiteLLM_VerificationToken', ['created_at', 'expires', 'last_active'])
  const userRows = new Map((await reading.rows('LiteLLM_UserTable', [])).map((row) => [text(row, 'user_id'), row]))
  const known = new Set(users.map(({ id }) => id))
  const made = new Map<number, LocalRow>()
  const owners = new Map<string, number>()
  const tokens: LocalRow[] = []
  for (const row of rows) {
    const hash = text(row, 'token')
    const example = text(row, 'key_alias') || text(row, 'key_name')
    if (!/^[0-9a-f]{64}$/.test(hash)) {
      reading.later.leave(
        { kind: 'token', id: example, reason: 'token', data: row },
        'The key is not stored as a SHA-256 and is skipped.',
      )
      continue
    }
    const team = teams.get(text(row, 'team_id'))
    const owner = ownerOf(row, team)
    if (!known.has(owner.id) && !made.has(owner.id)) {
      reading.later.add(
        'users',
        'The key belongs to no user of the source. An account is created that owns it and pays for it.',
        `${example} → ${owner.name}`,
      )
      made.set(owner.id, madeAccount(reading, owner.id, owner.name, owner.budget))
    }
    owners.set(hash, owner.id)
    tokens.push(tokenOf(reading, row, { team, user: userRows.get(text(row, 'user_id')), owner: owner.id, example }))
  }
  return { tokens, made: [...made.values()], owners }
}

function ownerOf(row: SourceRow, team: SourceRow | undefined): { id: number; name: string; budget: SourceRow } {
  const user = text(row, 'user_id')
  if (user !== '') return { id: numberOf('user', user), name: user, budget: {} }
  const teamId = text(row, 'team_id')
  if (teamId === '') return { id: numberOf('user', ''), name: ofNobody, budget: {} }
  return { id: numberOf('team', teamId), name: `team-${text(team ?? {}, 'team_alias') || teamId}`, budget: team ?? {} }
}

function tokenOf(
  { budgets, quotaPerUnit, later }: Reading,
  row: SourceRow,
  given: { team: SourceRow | undefined; user: SourceRow | undefined; owner: number; example: string },
): LocalRow {
  const { team, user, owner, example } = given
  const budget = budgetOf(row, budgets, quotaPerUnit)
  const used = quotaOf(row['spend'], quotaPerUnit)
  const models = modelsOf(row, team, user)
  const patterns = models?.filter((name) => name.includes('*')) ?? []
  if (patterns.length > 0)
    later.add(
      'tokens',
      'A pattern among the models of the key has no counterpart. It is dropped; the others stay.',
      example,
    )
  if (budget.isOfOtherPeriod)
    later.add(
      'tokens',
      'The budget is renewed after a time that has no counterpart. What is left of it becomes the quota of the token.',
      `${example}: ${text(row, 'budget_duration')}`,
    )
  for (const [column, value] of valuesWithoutPlace(row))
    later.leave(
      { kind: 'token', id: example, reason: column, data: { key_alias: example, [column]: value } },
      `The column ${column} of the key has no counterpart.`,
    )
  const isBlocked = truth(row, 'blocked') || truth(team ?? {}, 'blocked') || isNarrowed(row)
  if (isNarrowed(row))
    later.add('tokens', 'The key may call only some paths, which has no counterpart. It is disabled.', example)
  const { most, limits } = budget
  return {
    id: numberOf('token', text(row, 'token')),
    user_id: owner,
    key: hashedKey(text(row, 'token')),
    status: isBlocked ? tokenStatus.disabled : tokenStatus.enabled,
    name: text(row, 'key_alias') || text(row, 'key_name'),
    created_time: integer(row, 'created_at'),
    accessed_time: integer(row, 'last_active') || integer(row, 'created_at'),
    expired_time: row['expires'] === null ? -1 : integer(row, 'expires', -1),
    remain_quota: most === undefined ? 0 : quotaOf(most, quotaPerUnit) - used,
    unlimited_quota: most === undefined ? 1 : 0,
    used_quota: used,
    model_limits_enabled: models === undefined ? 0 : 1,
    model_limits: (models ?? []).filter((name) => !name.includes('*')).join(','),
    ...limits,
  }
}

/** True if a key may not call all paths that call models. */
function isNarrowed(row: SourceRow): boolean {
  const routes = textsOf(row['allowed_routes'])
  return routes.length > 0 && !routes.includes('llm_api_routes')
}

/** The models that a key may use: those in its own list that its team or its user may also use. Undefined = all. */
function modelsOf(row: SourceRow, team: SourceRow | undefined, user: SourceRow | undefined): string[] | undefined {
  const own = listed(row)?.filter((name) => name !== 'all-team-models')
  const takesTeams = textsOf(row['models']).includes('all-team-models')
  const above = text(row, 'team_id') === '' ? listed(user ?? {}) : listed(team ?? {})
  if (own === undefined || (takesTeams && above === undefined)) return above
  if (takesTeams) return [...new Set([...own, ...(above ?? [])])]
  return above === undefined ? own : own.filter((name) => above.includes(name))
}

function listed(row: SourceRow): string[] | undefined {
  const models = textsOf(row['models'])
  if (models.length === 0 || models.includes('all-proxy-models') || models.includes('*')) return undefined
  return models.filter((name) => name !== 'no-default-models')
}
