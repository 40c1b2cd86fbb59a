// This module is loaded before the tests, and before the servers that they start. A password hash takes 64 MiB and a
// tenth of a second of CPU time. The tests make thousands of hashes, mostly for accounts that only have to log in. With
// this module, a hash takes a hundredth of that time and memory. Tests about the cost of a hash use `realPasswords`.

const { hash } = Bun.password

/**
 * True while hashes have their real cost. The flag is global, because each test file has its own instances of the
 * modules.
 */
const shared = globalThis as typeof globalThis & { tollgateRealPasswords?: boolean }

Bun.password.hash = (password, options) => {
  const isCheap = typeof options === 'object' && options.algorithm === 'argon2id' && !shared.tollgateRealPasswords
  return hash(password, isCheap ? { ...options, memoryCost: 1024, timeCost: 1 } : options)
}
