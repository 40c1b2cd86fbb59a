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
  /** The random password of the new root account, to be shown once; undefined if the operator chose it. */
  generatedPassword: string | undefined
}

/** The operator's choices for the root account; the process configuration has this shape. */
export interface RootConfig {
  initialRootPassword: string | undefined
  /** Key of a relay token, without `sk-`. */
  initialRootToken: string | undefined
  initialRootAccessToken: string | undefined
}

/** The database was filled under a different SECRET_KEY. */
export class SecretKeyMismatch extends Error {
  constructor() {
    super(
      'SECRET_KEY does not belong to this database: what it holds was encrypted under another key. ' +
        'Set SECRET_KEY (or the file secret.key in DATA_DIR) to the key of this database. If rotate-key was interrupted, run it again.',
    )
  }
}

/** A password for the root account and its hash, which is being computed. */
export interface RootPassword {
  /** True if nobody chose the password, so that it has to be shown. */
  isGenerated: boolean
  password: string
  hash: Promise<string>
}

/**
 * Chooses the password of the root account if there is no user yet, and begins to hash it. The hash takes about as long
 * as everything else in the first start together, so this is called before the schema exists.
 */
export async function rootPassword(store: Store, config: RootConfig): Promise<RootPassword | undefined> {
  // Without a schema there is no table to look at.
  const isNew = await hasNoUsers(store.read).catch(() => true)
  if (!isNew) return undefined
  const password = config.initialRootPassword ?? randomBase62(20)
  return { isGenerated: config.initialRootPassword === undefined, password, hash: hashPassword(password) }
}

/**
 * Makes a new database usable: checks that the secret key belongs to it, and creates the root account if there is no
 * user. If several processes start at once, one does this and the others find that it is already done.
 */
export async function bootstrapRoot(
  store: Store,
  secrets: Secrets,
  config: RootConfig,
  clock: Clock = systemClock,
  prepared?: RootPassword,
): Promise<Bootstrap> {
  const chosen = prepared ?? (await rootPassword(store, config))
  // The password is hashed before the transaction, because hashing inside it would hold up other writers.
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
