import { expect, type Matchers } from 'bun:test'

/**
 * How long to wait for a page to reach an expected state. The limit is long, so that tests do not fail on slow
 * machines.
 */
export const patienceMs = 30_000
const longestPauseMs = 100

type Asked<T> = {
  [Name in keyof Matchers<T>]: Matchers<T>[Name] extends (...given: infer Given) => unknown
    ? (...given: Given) => Promise<void>
    : never
}

/** The matchers of `expect`. Each rereads the value until it matches, or fails with the last error. */
type Eventually<T> = Omit<Asked<T>, 'not'> & { not: Asked<T> }

/**
 * Like `expect`, for a state that a page or a server has not reached yet: `await eventually(() =>
 * box.inputValue()).toBe('x')`.
 */
export function eventually<T>(read: () => T | Promise<T>): Eventually<T> {
  const matchers = (negated: boolean) =>
    new Proxy({} as Eventually<T>, {
      get: (_, name: string) => {
        if (name === 'not') return matchers(true)
        return (...given: unknown[]) =>
          untilItPasses(async () => {
            const said = expect(await read())
            const judge = (negated ? said.not : said) as unknown as Record<string, (...given: unknown[]) => void>
            if (!judge[name]) throw new Error(`expect has no ${name}`)
            judge[name](...given)
          })
      },
    })
  return matchers(false)
}

/** Repeats an attempt until it does not throw; rethrows the last error if this takes too long. */
export async function untilItPasses(attempt: () => Promise<void>): Promise<void> {
  const end = performance.now() + patienceMs
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise((done) => setTimeout(done, pauseMs))
  }
}
