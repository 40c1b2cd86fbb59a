import type { Page } from 'playwright-core'
import type { Account } from './console.ts'

/** A page of the console in one of its states. */
export interface Screen {
  path: string
  /** The address that the path redirects to, if that is another page. */
  goes?: string
  /** Name of the state, if it differs from the page as it opens. */
  state?: string
  /** The visitor's account; if omitted, the visitor is not logged in. */
  as?: Account
  /** Whether the installation without any data is used. */
  bare?: boolean
  /** Calls that get a 502 response, as a glob of their addresses. */
  fails?: string
  /** The only screen width on which the state exists. */
  only?: 'wide' | 'narrow'
  /** Expected messages in the browser's console. */
  says?: RegExp
  /** External addresses that the page is configured to open. */
  opens?: RegExp
  /** Brings the page into the state, in any language. */
  prepare?(page: Page): Promise<unknown>
}

/** A user without administrator rights, on both installations. */
export const person: Account = { username: 'person', password: 'a long password' }
