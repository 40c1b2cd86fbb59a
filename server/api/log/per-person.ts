import { ApiFailure } from '../../http/api-failure.ts'

/** Counts what each person has open in this process. */
export interface PerPerson {
  /** Takes a place and returns what gives it back, once; throws a 429 when all places of the person are taken. */
  take(personId: number): () => void
}

export function createPerPerson(limit: number, what: string): PerPerson {
  const open = new Map<number, number>()
  return {
    take(personId) {
      const count = open.get(personId) ?? 0
      if (count >= limit) throw new ApiFailure(`You have ${limit} ${what} open already; close one first.`, 429)
      open.set(personId, count + 1)
      let given = false
      return () => {
        if (given) return
        given = true
        const left = (open.get(personId) ?? 1) - 1
        if (left === 0) open.delete(personId)
        else open.set(personId, left)
      }
    },
  }
}
