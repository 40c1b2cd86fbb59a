import { ApiFailure } from '../http/api-failure.ts'

/** Counts each person's open streams or exports in this process. */
export interface PerPerson {
  /** Takes a slot and returns a function that releases it once. Throws a 429 if all slots of the person are taken. */
  take(personId: number): () => void
}

export function createPerPerson(limit: number, what: string): PerPerson {
  const open = new Map<number, number>()
  return {
    take(personId) {
      const count = open.get(personId) ?? 0
      if (count >= limit) throw new ApiFailure(`You have ${limit} ${what} open already. Close one first.`, 429)
      open.set(personId, count + 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const left = (open.get(personId) ?? 1) - 1
        if (left === 0) open.delete(personId)
        else open.set(personId, left)
      }
    },
  }
}
