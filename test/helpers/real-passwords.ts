const shared = globalThis as typeof globalThis & { tollgateRealPasswords?: boolean }

/** Until it is disposed of, passwords are hashed at their real cost: see `quick-passwords.ts`. */
export function realPasswords(): Disposable {
  shared.tollgateRealPasswords = true
  return {
    [Symbol.dispose]: () => {
      shared.tollgateRealPasswords = false
    },
  }
}
