// Loaded before the tests and before the servers that they start. A password hash takes 64 MiB and a tenth of a second of a
// core, and the tests make thousands, mostly of accounts that only have to log in. Here they take a hundredth of that. The
// tests that are about the cost of a hash use `realPasswords`.

const { hash } = Bun.password

/** All test files of a process share this, even if each has its own module instances. */
const shared = globalThis as typeof globalThis & { tollgateRealPasswords?: boolean }

Bun.password.hash = (password, options) => {
  const isCheap = typeof options === 'object' && options.algorithm === 'argon2id' && !shared.tollgateRealPasswords
  return hash(password, isCheap ? { ...options, memoryCost: 1024, timeCost: 1 } : options)
}
