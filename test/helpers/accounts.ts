import { randomUUID } from 'node:crypto'
import type { Updateable } from 'kysely'
import { logType } from '../../contract/log-types.ts'
import { randomBase62 } from '../../server/lib/secrets/ids.ts'
import type { Secrets } from '../../server/lib/secrets/secrets.ts'
import { addToken } from '../../server/store/accounts/tokens.ts'
import { addUser } from '../../server/store/accounts/user-changes.ts'
import { emptyLogRow } from '../../server/store/logs/logs.ts'
import type { ExtendOp, HoldOp, LogRow, SettleOp } from '../../server/store/schema/ledger-types.ts'
import type { TokensTable } from '../../server/store/schema/tables.ts'
import type { Store, Trx } from '../../server/store/store.ts'

/** The ids of a user, one of the user's tokens, and a channel, as the ledger needs them. */
export interface Account {
  userId: number
  tokenId: number
  channelId: number
}

/** Creates a user, a token (unlimited if `token` is omitted) and a channel. */
export async function addAccount(store: Store, quota: { user: number; token?: number }): Promise<Account> {
  return store.write(async (trx) => {
    const userId = await addUser(trx, {
      username: `u${randomUUID().slice(0, 11)}`,
      password: '',
      display_name: '',
      quota: quota.user,
      created_time: 0,
    })
    const channel = await trx
      .insertInto('channels')
      .values({ type: 1, key: '', name: 'test', status: 1 } as never)
      .returning('id')
      .executeTakeFirstOrThrow()
    const tokenId = await addTokenTo(trx, userId, quota.token)
    return { userId, tokenId, channelId: channel.id }
  })
}

/** Creates another token of the same user. */
export async function addSecondToken(store: Store, account: Account, quota?: number): Promise<Account> {
  return { ...account, tokenId: await store.write((trx) => addTokenTo(trx, account.userId, quota)) }
}

/**
 * Creates a token with its own key, and returns the key in the form in which callers send it. The token is unlimited if
 * `quota` is omitted.
 */
export async function addTokenWithKey(
  trx: Trx,
  secrets: Secrets,
  userId: number,
  quota?: number,
  fields: Updateable<TokensTable> = {},
): Promise<{ tokenId: number; token: string }> {
  const key = randomBase62(48)
  const tokenId = await addTokenTo(trx, userId, quota, {
    key: secrets.seal(key, 'token'),
    key_hash: secrets.fingerprint(key, 'token-key'),
  })
  if (Object.keys(fields).length > 0) await trx.updateTable('tokens').set(fields).where('id', '=', tokenId).execute()
  return { tokenId, token: `sk-${key}` }
}

async function addTokenTo(
  trx: Trx,
  userId: number,
  quota: number | undefined,
  sealed: { key: string; key_hash: string } = { key: '', key_hash: randomUUID() },
): Promise<number> {
  const token = await addToken(trx, {
    user_id: userId,
    ...sealed,
    name: 'test',
    created_time: 0,
    expired_time: -1,
    remain_quota: quota ?? 0,
    unlimited_quota: quota === undefined,
    models: null,
    subnet: null,
  })
  return token.id
}

/** A hold on the account. Fields that are omitted get these defaults. */
export function holdOp(account: Account, amount: number, fields: Partial<HoldOp> = {}): HoldOp {
  return {
    kind: 'hold',
    id: randomUUID(),
    userId: account.userId,
    tokenId: account.tokenId,
    amount,
    minimum: amount,
    crashCharge: 1,
    nodeId: 'test node',
    createdAt: 1_700_000_000,
    modelName: 'gpt-4o',
    requestId: randomUUID(),
    ...fields,
  }
}

export function extendOp(hold: HoldOp, amount: number, fields: Partial<ExtendOp> = {}): ExtendOp {
  const { id, userId, tokenId } = hold
  return { kind: 'extend', id, userId, tokenId, amount, minimum: 1, crashCharge: 2, ...fields }
}

/** Ends a hold with a log row, or without one if `log: undefined` is given. */
export function settleOp(
  account: Account,
  hold: Pick<HoldOp, 'id'>,
  charge: number,
  fields: Partial<SettleOp> = {},
): SettleOp {
  return {
    kind: 'settle',
    id: hold.id,
    userId: account.userId,
    tokenId: account.tokenId,
    channelId: account.channelId,
    charge,
    mayGoNegative: false,
    requests: 1,
    log: logRow(account),
    at: 1_700_000_001,
    ...fields,
  }
}

export function logRow(account: Account, fields: Partial<LogRow> = {}): LogRow {
  return {
    ...emptyLogRow,
    user_id: account.userId,
    created_at: 1_700_000_001,
    type: logType.consume,
    content: '',
    username: 'u',
    token_name: 'test',
    model_name: 'gpt-4o',
    prompt_tokens: 1,
    completion_tokens: 1,
    channel_id: account.channelId,
    elapsed_time: 1,
    token_id: account.tokenId,
    first_byte_time: 1,
    outcome: 'complete',
    ...fields,
  }
}

/** Every number that the ledger changes. */
export async function figuresOf(store: Store, account: Account) {
  const user = await store.read.selectFrom('users').selectAll().where('id', '=', account.userId).executeTakeFirst()
  const token = await store.read.selectFrom('tokens').selectAll().where('id', '=', account.tokenId).executeTakeFirst()
  const channel = await store.read
    .selectFrom('channels')
    .selectAll()
    .where('id', '=', account.channelId)
    .executeTakeFirst()
  const holds = await store.read.selectFrom('holds').select(['amount']).where('user_id', '=', account.userId).execute()
  const logs = await store.read.selectFrom('logs').select('quota').where('user_id', '=', account.userId).execute()
  return {
    quota: user?.quota,
    used: user?.used_quota,
    requests: user?.request_count,
    unlogged: user?.unlogged_quota,
    remain: token?.remain_quota,
    tokenUsed: token?.used_quota,
    tokenUnlogged: token?.unlogged_quota,
    channelUsed: channel?.used_quota,
    channelUnlogged: channel?.unlogged_quota,
    held: holds.reduce((sum, hold) => sum + hold.amount, 0),
    logs: logs.map((log) => log.quota),
  }
}
