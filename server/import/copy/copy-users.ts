import { roles } from '../../../contract/roles.ts'
import { userStatus } from '../../../contract/statuses.ts'
import { verifyPassword } from '../../lib/secrets/password.ts'
import { bookChange } from '../../store/imports/books.ts'
import { type BulkColumns, bulkInsert } from '../../store/imports/bulk-insert.ts'
import { type JournalRow, recordFigures, recordRows } from '../../store/imports/journal.ts'
import { reserveIds, takenIds, takenTexts } from '../../store/imports/target.ts'
import type { Trx } from '../../store/store.ts'
import { counted, integer } from '../fields.ts'
import { limitColumns } from '../rows/limit-columns.ts'
import { readUser, type UserDraft } from '../rows/user-row.ts'
import { pages, type SourceRow } from '../sources/source-database.ts'
import { assignIds, freeName, type IdMap, nameKey, type Work } from './work.ts'

const columns: BulkColumns = [
  ['id', 'integer'],
  ['username', 'text'],
  ['password', 'text'],
  ['display_name', 'text'],
  ['role', 'integer'],
  ['status', 'integer'],
  ['email', 'text'],
  ['github_id', 'text'],
  ['github_account_id', 'text'],
  ['wechat_id', 'text'],
  ['lark_id', 'text'],
  ['oidc_id', 'text'],
  ['access_token_hash', 'text'],
  ['quota', 'integer'],
  ['used_quota', 'integer'],
  ['request_count', 'integer'],
  ['group', 'text'],
  ['aff_code', 'text'],
  ['inviter_id', 'integer'],
  ['granted_quota', 'integer'],
  ['unlogged_quota', 'integer'],
  ['created_time', 'integer'],
  ...limitColumns,
]

/** Values of unique columns that accounts in this installation already use. */
interface Taken {
  names: Set<string>
  affCodes: Set<string>
  accessTokens: Set<string>
}

/** The result of copying users. */
export interface CopiedUsers {
  ids: IdMap
  groups: Set<string>
  /** The number of users that no earlier run had copied. */
  added: number
}

/**
 * Copies the users that earlier runs did not copy. For the others, adds the changes of balance, usage and request count
 * since the last run.
 */
export async function copyUsers(work: Work): Promise<CopiedUsers> {
  const { source, trx, journal } = work
  const known = await journal('user')
  const plan = await plannedIds(work, known)
  const taken = await takenNow(work, plan)
  // The root account is copied first. It gets its name from the source, so its previous name becomes free for another
  // user.
  if (plan.root) await copyRoot(work, plan.root, plan.ids, taken)
  const groups = new Set<string>()
  let added = 0
  for await (const rows of pages(source, 'users')) {
    const fresh: UserDraft[] = []
    for (const row of rows) {
      const id = integer(row, 'id')
      const draft = id === plan.root?.draft.id ? plan.root.draft : readUser(row, work.program, work.findings)
      correct(work, row, draft)
      groups.add(draft.group)
      const before = known.get(String(id))
      if (before) await takeOver(trx, before, draft)
      else added++
      if (!before && draft !== plan.root?.draft) fresh.push(draft)
    }
    const values = fresh.map((draft) => valuesOf(work, draft, plan.ids, taken))
    if (!trx) continue
    await bulkInsert(trx, 'users', columns, values)
    await recordRows(
      trx,
      fresh.map((draft) => journalRow(work, draft, plan.ids)),
    )
  }
  return { ids: plan.ids, groups, added }
}

async function takeOver(trx: Trx | undefined, before: JournalRow, draft: UserDraft): Promise<void> {
  const { quota, used, requests } = draft
  const change = { quota: quota - before.quota, used: used - before.used, requests: requests - before.requests }
  if (!trx || (change.quota === 0 && change.used === 0 && change.requests === 0)) return
  await bookChange(trx, 'users', before.target_id, change)
  await recordFigures(trx, { ...before, quota, used, requests })
}

/** The super admin of the source, and the account in this installation that it is copied to. */
interface RootPlan {
  id: number
  hasAccessToken: boolean
  draft: UserDraft
}

interface Plan {
  ids: Map<number, number>
  root: RootPlan | undefined
}

/** The id that each user gets, and the user that is copied to the existing root account. */
async function plannedIds(work: Work, known: ReadonlyMap<string, JournalRow>): Promise<Plan> {
  const { source, keepsIds, db, trx } = work
  const all: number[] = []
  let rootId: number | undefined
  for await (const rows of pages(source, 'users', { limit: 5000, columns: ['id', 'role', 'status'] }))
    for (const row of rows) {
      const id = integer(row, 'id')
      if (known.has(String(id))) continue
      all.push(id)
      if (integer(row, 'role') >= roles.root && integer(row, 'status') !== userStatus.deleted) rootId ??= id
    }
  const root = known.size === 0 && rootId !== undefined ? await plannedRoot(work, rootId) : undefined
  const others = all.filter((id) => id !== root?.draft.id)
  if (trx && keepsIds) await reserveIds(trx, 'users', Math.max(0, ...maxOf(all)))
  const ids = await assignIds(work, 'users', others, await takenIds(db, 'users'))
  for (const [id, target] of ids)
    if (keepsIds && id !== target)
      work.findings.add('users', 'The id of the user is already taken here. The user gets another one.', `user ${id}`)
  if (root) ids.set(root.draft.id, root.id)
  for (const [id, row] of known) ids.set(Number(id), row.target_id)
  return { ids, root }
}

async function plannedRoot({ source, program, findings, root }: Work, id: number): Promise<RootPlan | undefined> {
  const [row] = await source.page('users', { after: id - 1, limit: 1 })
  return root && row ? { ...root, draft: readUser(row, program, findings) } : undefined
}

/**
 * Returns a list with only the largest number, or an empty list if there are no numbers. `Math.max` cannot be called
 * with all numbers, because it fails with too many arguments.
 */
function maxOf(numbers: readonly number[]): number[] {
  return numbers.length === 0 ? [] : [numbers.reduce((most, each) => Math.max(most, each))]
}

async function takenNow({ db, isFresh }: Work, { root }: Plan): Promise<Taken> {
  const of = async (column: string) => new Set((await takenTexts(db, 'users', column)).keys())
  const names = root ? [] : [...(await of('username'))]
  return {
    names: new Set(names.map((name) => nameKey(name, isFresh))),
    affCodes: await of('aff_code'),
    accessTokens: await of('access_token_hash'),
  }
}

function correct({ corrections }: Work, row: SourceRow, draft: UserDraft): void {
  corrections.userQuota += draft.quota - counted(row, 'quota')
  corrections.userUsed += draft.used - counted(row, 'used_quota')
  corrections.requests += draft.requests - counted(row, 'request_count')
}

function journalRow({ importId }: Work, draft: UserDraft, ids: IdMap): JournalRow {
  return {
    import_id: importId,
    kind: 'user',
    source_id: String(draft.id),
    target_id: ids.get(draft.id) ?? 0,
    mark: draft.status === userStatus.deleted ? '' : draft.username,
    quota: draft.quota,
    used: draft.used,
    requests: draft.requests,
  }
}

function valuesOf(work: Work, draft: UserDraft, ids: IdMap, taken: Taken): unknown[] {
  const { findings, isFresh, keepsIds, suffix } = work
  const example = `user ${draft.id}`
  const username = freeName(draft.username, suffix, taken.names, isFresh)
  if (username !== draft.username)
    findings.add(
      'users',
      `The name is taken. The user gets a name with the suffix ${suffix}.`,
      `${draft.username} → ${username}`,
    )
  let { role } = draft
  if (role >= roles.root) {
    findings.add(
      'users',
      'The account is a super admin in the source. Here it becomes an admin: the super admin of this installation stays.',
      draft.username,
    )
    role = roles.admin
  }
  return [
    ids.get(draft.id) ?? 0,
    username,
    draft.password,
    draft.displayName,
    role,
    draft.status,
    draft.email,
    draft.githubId,
    draft.githubAccountId,
    draft.wechatId,
    draft.larkId,
    draft.oidcId,
    accessTokenHash(work, draft, taken),
    draft.quota,
    draft.used,
    draft.requests,
    draft.group,
    affCode(draft, taken, () =>
      findings.add('users', 'The invitation code is taken. The user gets a new one.', example),
    ),
    ids.get(draft.inviterId) ?? (keepsIds ? draft.inviterId : 0),
    draft.quota + draft.used,
    draft.used,
    draft.createdTime || work.now,
    ...draft.limits,
  ]
}

function affCode({ affCode: code }: UserDraft, { affCodes }: Taken, collided: () => void): string | null {
  if (code === '') return null
  if (!affCodes.has(code)) {
    affCodes.add(code)
    return code
  }
  collided()
  return null
}

function accessTokenHash({ secrets, findings }: Work, draft: UserDraft, { accessTokens }: Taken): string | null {
  if (draft.accessToken === '') return null
  const hash = secrets.fingerprint(draft.accessToken, 'access-token')
  if (accessTokens.has(hash)) {
    findings.add('users', 'The access token belongs to another account here. It is not imported.', `user ${draft.id}`)
    return null
  }
  accessTokens.add(hash)
  return hash
}

/** The password with which one-api creates root. Many installations still have it. */
const knownPassword = '123456'

/** Copies the source's root account to the root account of this installation. */
async function copyRoot(work: Work, root: RootPlan, ids: IdMap, taken: Taken): Promise<void> {
  const { findings, trx, isFresh, suffix } = work
  const { draft } = root
  const isKnown = draft.password !== '' && (await verifyPassword(knownPassword, draft.password))
  if (isKnown)
    findings.add(
      'users',
      'The super admin still has the default password of one-api. The password of this installation stays.',
      draft.username,
    )
  const hash = root.hasAccessToken ? null : accessTokenHash(work, draft, taken)
  if (root.hasAccessToken && draft.accessToken !== '')
    findings.add(
      'users',
      'The super admin of this installation has an access token. It stays, and the one from the source does not work.',
      draft.username,
    )
  const username = freeName(draft.username, suffix, taken.names, isFresh)
  if (!trx) return
  await trx
    .updateTable('users')
    .set({
      username,
      display_name: draft.displayName,
      ...(!isKnown && draft.password !== '' && { password: draft.password }),
      email: draft.email,
      github_id: draft.githubId,
      github_account_id: draft.githubAccountId,
      wechat_id: draft.wechatId,
      lark_id: draft.larkId,
      oidc_id: draft.oidcId,
      ...(hash !== null && { access_token_hash: hash }),
      quota: draft.quota,
      used_quota: draft.used,
      request_count: draft.requests,
      group: draft.group,
      ...(draft.affCode !== '' && { aff_code: draft.affCode }),
      inviter_id: ids.get(draft.inviterId) ?? 0,
      granted_quota: draft.quota + draft.used,
      unlogged_quota: draft.used,
    })
    .where('id', '=', root.id)
    .execute()
  await recordRows(trx, [journalRow(work, draft, ids)])
}
