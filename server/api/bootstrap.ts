import { roles } from '../../contract/roles.ts'
import { type Clock, epochSeconds, systemClock } from '../lib/clock.ts'
import { randomBase62 } from '../lib/secrets/ids.ts'
import { hashPassword } from '../lib/secrets/password.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { presentedKeyHash } from '../lib/secrets/token-key.ts'
import { addToken } from '../store/accounts/tokens.ts'
import { addUser, updateUser } from '../store/accounts/user-changes.ts'
import { hasNoUsers, lockInstallation, saveSecretCheck, secretCheck } from '../store/installation/installation.ts'
import type { Store, Trx } from '../store/store.ts'

const rootQuota = 100_000_000_000

/** The result of the first start. */
export interface Bootstrap {
  /** True if this process created the root account. */
  created: boolean
  /**
   * The random password of the new root account, which must be shown once. Undefined if the operator chose the
   * password.
   */
  generatedPassword: string | undefined
}

/** The operator's choices for the root account. They are part of the process configuration. */
export interface RootConfig {
  initialRootPassword: string | undefined
  /** The key of the root account's relay token, without `sk-`. */
  initialRootToken: string | undefined
  initialRootAccessToken: string | undefined
}

/** Thrown if the database was filled under a different SECRET_KEY. */
export class SecretKeyMismatch extends Error {
  constructor() {
    super(
      'SECRET_KEY does not belong to this database: what it holds was encrypted under another key. ' +
        'Set SECRET_KEY (or the file secret.key in DATA_DIR) to the key of this database. If rotate-key was interrupted, run it again.',
    )
  }
}

/** A password for the root account, with its hash, which may still be in progress. */
export interface RootPassword {
  /** True if nobody chose the password, so that it has to be shown. */
  isGenerated: boolean
  password: string
  hash: Promise<string>
}

/**
 * Chooses the password of the root account if there is no user yet, and starts to hash it. Hashing takes about as long
 * as the rest of the first start, so this is called before the schema exists.
 */
export async function rootPassword(store: Store, config: RootConfig): Promise<RootPassword | undefined> {
  // Without a schema, the query fails, and the installation is new.
  const isNew = await hasNoUsers(store.read).catch(() => true)
  if (!isNew) return undefined
  const password = config.initialRootPassword ?? randomBase62(20)
  return { isGenerated: config.initialRootPassword === undefined, password, hash: hashPassword(password) }
}

/**
 * Makes a new database usable. It checks that the secret key belongs to the database, and creates the root account if
 * there is no user. If several processes start simultaneously, one of them does this, and the others change nothing.
 */
export async function bootstrapRoot(
  store: Store,
  secrets: Secrets,
  config: RootConfig,
  clock: Clock = systemClock,
  prepared?: RootPassword,
): Promise<Bootstrap> {
  const chosen = prepared ?? (await rootPassword(store, config))
  // The password is hashed before the transaction, because hashing inside it would delay other writers.
  const hash = await chosen?.hash
  const created = await store.write(async (trx) => {
    await lockInstallation(trx)
    await checkSecretKey(trx, secrets)
    if (hash === undefined || !(await hasNoUsers(trx))) return false
    await createRoot(trx, secrets, config, hash, epochSeconds(clock))
    return true
  })
  return { created, generatedPassword: created && chosen?.isGenerated ? chosen.password : undefined }
}

async function checkSecretKey(trx: Trx, secrets: Secrets): Promise<void> {
  const expected = secrets.fingerprint('check', 'check')
  const stored = await secretCheck(trx)
  if (stored === undefined) await saveSecretCheck(trx, expected)
  else if (stored !== expected) throw new SecretKeyMismatch()
}

async function createRoot(
  trx: Trx,
  secrets: Secrets,
  config: RootConfig,
  password: string,
  now: number,
): Promise<void> {
  const id = await addUser(trx, {
    username: 'root',
    display_name: 'Root User',
    password,
    role: roles.root,
    quota: rootQuota,
    created_time: now,
  })
  const { initialRootAccessToken, initialRootToken } = config
  if (initialRootAccessToken !== undefined) {
    await updateUser(trx, id, { access_token_hash: secrets.fingerprint(initialRootAccessToken, 'access-token') })
  }
  if (initialRootToken !== undefined) {
    await addToken(trx, {
      user_id: id,
      key: secrets.seal(initialRootToken, 'token'),
      key_hash: presentedKeyHash(initialRootToken, secrets),
      name: 'initial',
      created_time: now,
      expired_time: -1,
      remain_quota: 0,
      unlimited_quota: true,
      models: null,
      subnet: null,
    })
  }
}
