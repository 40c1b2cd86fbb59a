import type { MessageKey } from '../messages/namespaces.ts'

/** Heading and width of a page's frame, the same as on the page itself. */
interface PageFrame {
  title: MessageKey
  text?: MessageKey
  width?: 'full' | 'narrow'
  /**
   * Conditions under which the page looks different: a key is set in the browser's storage, or a query parameter is
   * present.
   */
  unless?: { stored?: string; query?: string }
}

/**
 * Page frames by path. The shell draws a page's frame before the page's code has loaded. The build reads this and
 * writes the texts into separate scripts. A browser test compares each frame with its page.
 */
export const frames: Readonly<Record<string, PageFrame>> = {
  '/': { title: 'home.title', unless: { stored: 'home_page_content' } },
  '/about': { title: 'about.title' },
  '/chat': { title: 'chat.title', width: 'full' },
  '/token': { title: 'token.title', text: 'token.intro', width: 'full' },
  '/token/add': { title: 'token.addTitle', width: 'narrow' },
  '/token/edit/$id': { title: 'token.editTitle', width: 'narrow' },
  '/log': { title: 'log.title', text: 'log.intro', width: 'full' },
  '/topup': { title: 'topup.title' },
  '/setting': { title: 'setting.title', unless: { query: 'tab=audit' } },
  '/usage': { title: 'usage.title', text: 'usage.intro' },
  '/model': { title: 'model.title', text: 'model.intro', width: 'full' },
  '/playground': { title: 'playground.title', text: 'playground.note' },
  '/user/edit': { title: 'user.selfTitle', width: 'narrow' },
  '/channel': { title: 'channel.title', text: 'channel.intro', width: 'full' },
  '/channel/add': { title: 'channel.addTitle', width: 'narrow' },
  '/channel/edit/$id': { title: 'channel.editTitle', width: 'narrow' },
  '/redemption': { title: 'redemption.title', text: 'redemption.intro', width: 'full' },
  '/redemption/add': { title: 'redemption.addTitle', width: 'narrow' },
  '/redemption/edit/$id': { title: 'redemption.editTitle', width: 'narrow' },
  '/user': { title: 'user.title', text: 'user.intro', width: 'full' },
  '/user/add': { title: 'user.addTitle', width: 'narrow' },
  '/user/edit/$id': { title: 'user.editTitle', width: 'narrow' },
}
