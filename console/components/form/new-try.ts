import { useState } from 'react'
import { toast } from '../../lib/toast.ts'

const firstTries = new WeakMap<object, number>()

/**
 * Said with each try to send a form: the messages of its earlier tries go, so that none stands beside what comes of this
 * one. `form` is anything that is the form's own for as long as it is there.
 */
export function newTry(form: object): void {
  const first = firstTries.get(form)
  if (first === undefined) firstTries.set(form, Date.now())
  else toast.closeSince(first)
}

/** `newTry` for what is sent from a page without being a form of the form kit. */
export function useTries(): () => void {
  const [own] = useState(() => ({}))
  return () => newTry(own)
}
