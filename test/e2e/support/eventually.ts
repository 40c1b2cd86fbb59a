import { expect, type Matchers } from 'bun:test'

/** How long a page may take for what is waited for. A machine that is slow makes a run longer, and nothing else. */
export const patienceMs = 30_000
const longestPauseMs = 100

type Asked<T> = {
  [Name in keyof Matchers<T>]: Matchers<T>[Name] extends (...given: infer Given) => unknown
    ? (...given: Given) => Promise<void>
    : never
}

/** The matchers of `expect`; each reads again until it holds, and fails with what it said last. */
type Eventually<T> = Omit<Asked<T>, 'not'> & { not: Asked<T> }

/** As `expect`, for what a page or a server has yet to reach: `await eventually(() => box.inputValue()).toBe('x')`. */
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

/** Does something again until it does not throw; what it threw last when that takes too long. */
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
