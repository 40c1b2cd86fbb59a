/** Thrown if too many passwords are being checked. The call may be repeated after `retryAfterSeconds`. */
export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 3

  constructor() {
    super('too many passwords are being checked')
  }
}

/**
 * The maximum number of checks at the same time. Each check takes 64 MiB and keeps a core busy for a while. A caller
 * who sends many passwords must not fill the memory or stop all other work.
 */
const mostAtOnce = 2
/** The maximum number of waiting checks. With more, the last check would end later than people are willing to wait. */
const mostWaiting = 32

/** The gate is shared by the whole process, because all checks use the memory of this process. */
const gate = { running: 0, waiting: [] as (() => void)[] }

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (gate.running < mostAtOnce) gate.running++
  else if (gate.waiting.length < mostWaiting) await new Promise<void>((resolve) => gate.waiting.push(resolve))
  else throw new PasswordsBusy()
  try {
    return await work()
  } finally {
    // The next waiting check takes over the free slot.
    const next = gate.waiting.shift()
    if (next) next()
    else gate.running--
  }
}

/** Memory in KiB, and the number of passes over it. */
const cost = { memoryCost: 65_536, timeCost: 2 } as const

/** The argon2id hash of a password in PHC form. Throws PasswordsBusy. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, { algorithm: 'argon2id', ...cost }))
}

/** The bcrypt hash of a password, for the database of a program that supports no other hash. Throws PasswordsBusy. */
export function bcryptHash(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, { algorithm: 'bcrypt', cost: 10 }))
}

/**
 * A hash that matches no known password and is as expensive to check as any other. It is not computed from a password,
 * because that would take 64 MiB at every start.
 */
const decoy = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

/**
 * True if the password belongs to the hash (argon2id, or bcrypt for an imported account). An empty hash marks an
 * account without a password and never matches. Checking an empty hash takes as long as checking a real one, so that
 * the time does not reveal which names exist. Throws PasswordsBusy.
 */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(async () => {
    if (hash !== '') return Bun.password.verify(password, hash).catch(() => false)
    await Bun.password.verify(password, decoy)
    return false
  })
}
