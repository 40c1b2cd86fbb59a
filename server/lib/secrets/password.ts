/** Too many passwords are being checked; the call may be repeated after `retryAfterSeconds`. */
export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 3

  constructor() {
    super('too many passwords are being checked')
  }
}

/** Each takes 64 MiB and a core for a while: whoever sends many must neither fill the memory nor stop all other work. */
const mostAtOnce = 2
/** More would wait for longer than people do. */
const mostWaiting = 32

/** Of the process, as its memory is. */
const gate = { running: 0, waiting: [] as (() => void)[] }

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (gate.running < mostAtOnce) gate.running++
  else if (gate.waiting.length < mostWaiting) await new Promise<void>((resolve) => gate.waiting.push(resolve))
  else throw new PasswordsBusy()
  try {
    return await work()
  } finally {
    // Whoever waited takes the place over.
    const next = gate.waiting.shift()
    if (next) next()
    else gate.running--
  }
}

/** KiB, and passes over them. */
const cost = { memoryCost: 65_536, timeCost: 2 } as const

/** argon2id hash in PHC form. Throws PasswordsBusy. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, { algorithm: 'argon2id', ...cost }))
}

/** Of no known password, and as dear to check as any: made up, as making one would take 64 MiB at every start. */
const decoy = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

/**
 * True when the password belongs to the hash (argon2id, or bcrypt of an imported account). An empty hash, the mark of an
 * account without a password, never matches; it costs the same time, so that names cannot be told apart by it. Throws
 * PasswordsBusy.
 */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(async () => {
    if (hash !== '') return Bun.password.verify(password, hash).catch(() => false)
    await Bun.password.verify(password, decoy)
    return false
  })
}
