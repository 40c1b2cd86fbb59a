const shared = globalThis as typeof globalThis & { tollgateRealPasswords?: boolean }

/** Hashes passwords at their real cost until the returned object is disposed of; see `quick-passwords.ts`. */
export function realPasswords(): Disposable {
  shared.tollgateRealPasswords = true
  return {
    [Symbol.dispose]: () => {
      shared.tollgateRealPasswords = false
    },
  }
}
