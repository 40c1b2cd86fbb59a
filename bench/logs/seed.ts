import { type Insertable, sql } from 'kysely'
import { logType } from '../../contract/log-types.ts'
import { roles } from '../../contract/roles.ts'
import { createSecrets } from '../../server/lib/secrets/secrets.ts'
import type { LogsTable } from '../../server/store/schema/tables.ts'
import type { Store } from '../../server/store/store.ts'
import { fillPostgres } from './fill-postgres.ts'

/** Values that the cases use in their filters. */
export interface Population {
  /** Name and access token of a user with many calls. */
  busyUser: string
  busyToken: string
  busyAccess: string
  quietUser: string
  quietToken: string
  busyModel: string
  quietModel: string
  channel: number
  /** The id of a request in the middle of the log, and an id of the same second that is not in the log. */
  requestId: string
  missingId: string
  /** Epoch seconds of the newest row. */
  end: number
}

export const rootAccess = 'access-of-root'
export const secretKey = 'a secret key for measuring only'
const userCount = 300
const modelCount = 20
const channelCount = 10
const daySeconds = 86_400
const rowsPerStatement = 400

/** Pseudo-random numbers between 0 and 1, the same in every run. */
function createRandom(): () => number {
  let state = 42
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >>> 8) / 0x7f_ffff
  }
}

export interface Token {
  id: number
  name: string
  userId: number
  models: string[]
}

export interface Plan {
  rows: number
  days: number
  /** Epoch seconds of the newest row. */
  end: number
  /** `count` is called after this many rows. */
  countAt: number
  count(): Promise<void>
}

const userName = (id: number) => `user-${id}`
const modelName = (index: number) => `model-${index}`

/**
 * Creates users, tokens and channels, and `rows` log rows over the last `days` days in a realistic distribution. A few
 * users make many calls and many users make few, and a few models get most of the calls. There are more calls by day
 * than by night, and one row in a hundred is of another type.
 */
export async function seed(store: Store, { rows, days, end, countAt, count }: Plan): Promise<Population> {
  const random = createRandom()
  const tokens = makeTokens(random)
  await addPeople(store, tokens)
  const start = end - days * daySeconds
  if (store.dialect === 'postgres') {
    await fillPostgres(store, tokens, { start, days, from: 0, to: countAt, rows })
    await count()
    await fillPostgres(store, tokens, { start, days, from: countAt, to: rows, rows })
    return population(store, tokens, end)
  }
  let batch: Insertable<LogsTable>[] = []
  const flush = async () => {
    const values = batch
    batch = []
    if (values.length > 0) await store.write((trx) => trx.insertInto('logs').values(values).execute())
  }
  for (let index = 0; index < rows; index++) {
    const place = (index / rows) * days
    const ofDay = place % 1
    const at = start + Math.floor((Math.floor(place) + ofDay - 0.12 * Math.sin(2 * Math.PI * ofDay)) * daySeconds)
    batch.push(logRow(random, tokens, at))
    if (batch.length === rowsPerStatement) await flush()
    if (index === countAt) {
      await flush()
      await count()
    }
  }
  await flush()
  return population(store, tokens, end)
}

function makeTokens(random: () => number): Token[] {
  const tokens: Token[] = []
  for (let userId = 1; userId <= userCount; userId++) {
    const count = 1 + Math.floor(random() * 3)
    for (let each = 0; each < count; each++) {
      const models = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
        modelName(Math.floor(random() ** 3 * modelCount)),
      )
      tokens.push({ id: tokens.length + 1, name: `token-${tokens.length + 1}`, userId, models })
    }
  }
  return tokens
}

function logRow(random: () => number, tokens: readonly Token[], at: number): Insertable<LogsTable> {
  const token = tokens[Math.floor(random() ** 2.5 * tokens.length)] ?? tokens[0]
  const model = token?.models[Math.floor(random() * token.models.length)] ?? ''
  const isCall = random() < 0.99
  const prompt = Math.floor(random() ** 2 * 8000)
  const completion = Math.floor(random() ** 2 * 2000)
  const kind = Number(model.slice(6))
  return {
    user_id: token?.userId ?? 0,
    created_at: at,
    type: isCall ? logType.consume : logType.manage,
    content: isCall ? 'ratio: 1.25 × 4 × 1' : `quota set from ${prompt} to ${completion}`,
    username: userName(token?.userId ?? 0),
    token_name: isCall ? (token?.name ?? '') : '',
    model_name: isCall ? model : '',
    quota: isCall ? prompt + 4 * completion : 0,
    prompt_tokens: isCall ? prompt : 0,
    completion_tokens: isCall ? completion : 0,
    channel_id: isCall ? (kind % (channelCount / 2)) * 2 + (random() < 0.3 ? 2 : 1) : 0,
    request_id: requestIdAt(at - 5, random),
    elapsed_time: isCall ? 200 + Math.floor(random() ** 2 * 20_000) : 0,
    is_stream: random() < 0.6,
    system_prompt_reset: false,
    token_id: isCall ? (token?.id ?? 0) : 0,
    first_byte_time: isCall ? 100 + Math.floor(random() * 1500) : 0,
    cached_tokens: random() < 0.2 ? Math.floor(prompt / 2) : 0,
    reasoning_tokens: 0,
    estimated: false,
    outcome: isCall ? (random() < 0.98 ? 'complete' : random() < 0.5 ? 'aborted' : 'failed') : '',
    attempts: '',
  }
}

/** The text of a request's id: its time and 17 digits. */
function requestIdAt(seconds: number, random: () => number): string {
  const time = new Date(seconds * 1000).toISOString().replace(/\D/g, '').slice(0, 14)
  return `${time}${String(Math.floor(random() * 1e8)).padStart(17, '0')}`
}

async function addPeople(store: Store, tokens: readonly Token[]): Promise<void> {
  const secrets = createSecrets(secretKey)
  await store.write(async (trx) => {
    const users = Array.from({ length: userCount }, (_, index) => ({
      id: index + 1,
      username: userName(index + 1),
      access_token_hash: secrets.fingerprint(accessOf(index + 1), 'access-token'),
    }))
    await trx
      .insertInto('users')
      .values(users as never)
      .execute()
    const root = {
      id: userCount + 1,
      username: 'root',
      role: roles.root,
      access_token_hash: secrets.fingerprint(rootAccess, 'access-token'),
    }
    await trx
      .insertInto('users')
      .values(root as never)
      .execute()
    const rows = tokens.map(({ id, name, userId }) => ({ id, name, user_id: userId, key: '', key_hash: String(id) }))
    await trx
      .insertInto('tokens')
      .values(rows as never)
      .execute()
    const channels = Array.from({ length: channelCount }, (_, index) => ({
      id: index + 1,
      key: '',
      name: `channel-${index + 1}`,
    }))
    await trx
      .insertInto('channels')
      .values(channels as never)
      .execute()
  })
}

const accessOf = (userId: number) => `access-of-${userId}`

/** The population of a database that `seed` has filled. */
export async function populationOf(store: Store): Promise<Population> {
  const { end } = await store.read
    .selectFrom('logs')
    .select((eb) => eb.fn.max('created_at').as('end'))
    .executeTakeFirstOrThrow()
  return population(store, makeTokens(createRandom()), Number(end))
}

async function population(store: Store, tokens: readonly Token[], end: number): Promise<Population> {
  const middle = store.read.selectFrom('logs').select((eb) => sql<number>`${eb.fn.max('id')} / 2`.as('id'))
  const { request_id: requestId } = await store.read
    .selectFrom('logs')
    .select('request_id')
    .where('id', '=', middle)
    .executeTakeFirstOrThrow()
  const [busy, quiet] = [tokens[0], tokens.at(-1)]
  return {
    busyUser: userName(busy?.userId ?? 0),
    busyToken: busy?.name ?? '',
    busyAccess: accessOf(busy?.userId ?? 0),
    quietUser: userName(quiet?.userId ?? 0),
    quietToken: quiet?.name ?? '',
    busyModel: modelName(0),
    quietModel: modelName(modelCount - 1),
    channel: 3,
    requestId,
    missingId: `${requestId.slice(0, 14)}${'9'.repeat(17)}`,
    end,
  }
}
