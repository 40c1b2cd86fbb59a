import type { Page } from 'playwright-core'
import type { Account } from './console.ts'

/** A page of the console in one of its states. */
export interface Screen {
  path: string
  /** Where it goes from there, when that is another page. */
  goes?: string
  /** The state, when it is not the page as it opens. */
  state?: string
  /** Nobody unless given. */
  as?: Account
  /** On the installation that has nothing yet. */
  bare?: boolean
  /** Calls that are answered with 502, as a glob of their addresses. */
  fails?: string
  /** Seen on screens of this kind alone. */
  only?: 'wide' | 'narrow'
  /** What the browser's console says of it. */
  says?: RegExp
  /** Addresses outside that the page opens because it was told to. */
  opens?: RegExp
  /** Brings the page into the state, whatever its language. */
  prepare?(page: Page): Promise<unknown>
}

/** Somebody without rights, on both installations. */
export const person: Account = { username: 'person', password: 'a long password' }
