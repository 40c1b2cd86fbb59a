import { useState } from 'react'
import { toast } from '../../lib/toast.ts'

const firstTries = new WeakMap<object, number>()

/**
 * Called on each attempt to submit a form. Removes the toasts of earlier attempts, so that they are not shown beside
 * the result of this attempt. `form` is any object that identifies the form while it exists.
 */
export function newTry(form: object): void {
  const first = firstTries.get(form)
  if (first === undefined) firstTries.set(form, Date.now())
  else toast.closeSince(first)
}

/** Like `newTry`, for a page that sends requests without using `Form`. */
export function useTries(): () => void {
  const [own] = useState(() => ({}))
  return () => newTry(own)
}
