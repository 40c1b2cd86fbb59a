import { randomBase62 } from '../../server/lib/secrets/ids.ts'
import { hashPassword } from '../../server/lib/secrets/password.ts'
import type { Secrets } from '../../server/lib/secrets/secrets.ts'
import { addToken } from '../../server/store/accounts/tokens.ts'
import { addUser } from '../../server/store/accounts/user-changes.ts'
import type { Store } from '../../server/store/store.ts'
import type { Random } from '../../test/fuzz/random.ts'

/** The password of every example user. */
export const password = 'example password'

export const groups = ['default', 'vip', 'svip', 'research', 'support'] as const

const firstNames = ['ada', 'ben', 'chen', 'dina', 'emil', 'fatima', 'george', 'hana', 'ivan', 'julia', 'ken', 'lena']
const lastNames = ['archer', 'becker', 'costa', 'dupont', 'evans', 'fujita', 'garcia', 'huang', 'ito', 'jensen']
const tokenNames = ['laptop', 'server', 'ci', 'notebook', 'support bot', 'nightly report', 'phone', 'trial']
const projects = ['Search', 'Support', 'Reports'] as const
const daySeconds = 86_400
/** The number of quota units per dollar. */
const dollar = 500_000

/** A token and its owner, with the fields that calls need. */
export interface SeededToken {
  readonly id: number
  readonly name: string
  readonly user: SeededUser
}

export interface SeededUser {
  readonly id: number
  readonly username: string
}

interface PeoplePlan {
  readonly secrets: Secrets
  readonly random: Random
  readonly nowSeconds: number
  readonly users: number
}

/** Adds the users, and four tokens for every three users. The first user will have the most calls. */
export async function addPeople(store: Store, plan: PeoplePlan): Promise<SeededToken[]> {
  const hash = await hashPassword(password)
  const { random, nowSeconds } = plan
  const tokens: SeededToken[] = []
  await store.write(async (trx) => {
    for (let index = 0; index < plan.users; index++) {
      const name = `${random.pick(firstNames)}-${random.pick(lastNames)}-${index + 1}`.slice(0, 30)
      const id = await addUser(trx, {
        username: name,
        password: hash,
        display_name: name.replace(/-\d+$/, '').replace('-', ' '),
        email: `${name}@example.com`,
        quota: random.int(40) * dollar,
        created_time: nowSeconds - (61 + random.int(300)) * daySeconds,
      })
      const group = random.chance(0.6) ? 'default' : random.pick(groups)
      await trx
        .updateTable('users')
        .set({ group, status: random.chance(0.03) ? 2 : 1 })
        .where('id', '=', id)
        .execute()
      const user = { id, username: name }
      for (let count = random.chance(1 / 3) ? 2 : 1; count > 0; count--) tokens.push(await newToken(user))
    }

    async function newToken(user: SeededUser): Promise<SeededToken> {
      const key = randomBase62(48)
      const isUnlimited = random.chance(0.4)
      const { id, name } = await addToken(trx, {
        user_id: user.id,
        key: plan.secrets.seal(key, 'token'),
        key_hash: plan.secrets.fingerprint(key, 'token-key'),
        name: random.pick(tokenNames),
        created_time: nowSeconds - 61 * daySeconds,
        expired_time: random.chance(0.1) ? nowSeconds - random.int(20) * daySeconds : -1,
        remain_quota: isUnlimited ? 0 : random.int(20) * dollar,
        unlimited_quota: isUnlimited,
        models: null,
        subnet: null,
        project: projects[tokens.length % 6] ?? '',
      })
      return { id, name, user }
    }
  })
  return tokens
}
