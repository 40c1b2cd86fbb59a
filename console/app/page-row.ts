import type { RawSearch } from '../lib/url-query.ts'
import type { Area, MessageKey } from '../messages/namespaces.ts'
import type { MenuIcon } from './menu-icons.ts'

/** The fields that every page has. */
interface AnyPage {
  /** The path in the URL. A segment that begins with `$` is a parameter. */
  path: `/${string}`
  /** The module in `console/pages`, without `.page.tsx`. Its only export is the page's component. */
  file: string
  /** The areas of texts that the page needs in addition to `common` and the areas of its layout. */
  areas: readonly Area[]
  /** Parses the query of the URL. */
  search?(raw: RawSearch): object
  /** Lazy modules in `console/pages` that a logged-in user's first view always needs. */
  early?: readonly string[]
}

/** The parts of the menu, each with a heading. */
export type MenuGroup = 'gateway' | 'accounts' | 'activity' | 'more'

/** A page with the sidebar and the top bar. */
interface ShellPage extends AnyPage {
  /** The users that see the page and its menu entry. The server decides what is allowed. */
  for: 'everybody' | 'users' | 'admins'
  /**
   * The heading that is drawn before the page's code has loaded. A browser test checks that it equals the heading that
   * the page itself draws.
   */
  heading: {
    title: MessageKey
    text?: MessageKey
    width?: 'full' | 'narrow'
    /**
     * Conditions under which this heading is not drawn early, because the page then has another one: a key is set in
     * the browser's storage, or a query parameter is present.
     */
    unless?: { stored?: string; query?: string }
  }
  menu?: {
    text: Extract<MessageKey, `menu.${string}`>
    icon: MenuIcon
    /** Second key of the shortcut; the first is g. */
    key?: string
    /** The entry's part of the menu. Entries without one come first. */
    group?: MenuGroup
    /** The entry is hidden if the server lacks this. */
    needs?: 'chat link' | 'more calls' | 'public models' | 'status page' | 'API reference'
  }
}

/** A page for visitors who are not logged in: a centred card, without the sidebar and the top bar. */
interface PlainPage extends AnyPage {
  for: 'visitors'
  heading?: undefined
  menu?: undefined
}

/** A row of the table of pages. */
export type Page = ShellPage | PlainPage
