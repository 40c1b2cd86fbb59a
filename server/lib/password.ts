/** argon2id hash in PHC form. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: 'argon2id' })
}

const decoy = Bun.password.hash('decoy', { algorithm: 'argon2id' })

/**
 * True when the password belongs to the hash (argon2id, or bcrypt of an imported account). An empty hash, the mark of an
 * account without a password, never matches; it costs the same time, so that names cannot be told apart by it.
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  if (hash === '') {
    await Bun.password.verify(password, await decoy)
    return false
  }
  return Bun.password.verify(password, hash).catch(() => false)
}
