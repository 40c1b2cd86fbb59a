import type { Page } from 'playwright-core'
import type { Account } from './console.ts'

/** A page of the console in one of its states. */
export interface Screen {
  path: string
  /** The address it leads to, if that is another page. */
  goes?: string
  /** The state, if it is not the page as it opens. */
  state?: string
  /** The visitor; if omitted, nobody. */
  as?: Account
  /** On the installation without any data. */
  bare?: boolean
  /** Calls that are answered with 502, as a glob of their addresses. */
  fails?: string
  /** Exists only on screens of this kind. */
  only?: 'wide' | 'narrow'
  /** Expected messages of the browser's console. */
  says?: RegExp
  /** External addresses that the page is configured to open. */
  opens?: RegExp
  /** Brings the page into the state, in any language. */
  prepare?(page: Page): Promise<unknown>
}

/** A user without rights, on both installations. */
export const person: Account = { username: 'person', password: 'a long password' }
