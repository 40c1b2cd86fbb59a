import type { Page } from 'playwright-core'
import type { Account } from './console.ts'

/** A page of the console in one of its states. */
export interface Screen {
  path: string
  /** The URL to which the path redirects, if it redirects. */
  goes?: string
  /** Name of the state, if it is not the state in which the page opens. */
  state?: string
  /** The visitor's account; if omitted, the visitor is not logged in. */
  as?: Account
  /** Whether to use the installation that has no data. */
  bare?: boolean
  /** Calls that get a 502 response, as a glob pattern of their URLs. */
  fails?: string
  /** The only screen width at which the state exists. */
  only?: 'wide' | 'narrow'
  /** Expected errors in the browser's console. */
  says?: RegExp
  /** External URLs that the page is configured to open. */
  opens?: RegExp
  /** Brings the page into the state. Works in any language. */
  prepare?(page: Page): Promise<unknown>
}

/** A user without administrator rights, on both installations. */
export const person: Account = { username: 'person', password: 'a long password' }
