import { copyText } from '../lib/clipboard.ts'
import type { Command } from '../lib/commands.ts'
import { serverAddress } from '../lib/server-address.ts'
import { isAdmin, type SessionUser } from '../lib/session.ts'
import { text } from '../lib/text.ts'

/** Commands that open the forms for new objects, and a command that copies the base URL of the API. */
export function tasksOf(user: SessionUser | undefined, go: (to: string) => void): Command[] {
  if (!user) return []
  const group = text('palette.actions')
  const forms = [
    { id: 'new-token', label: text('palette.newToken'), to: '/token/add' },
    ...(isAdmin(user)
      ? [
          { id: 'new-channel', label: text('palette.newChannel'), to: '/channel/add' },
          { id: 'new-user', label: text('palette.newUser'), to: '/user/add' },
          { id: 'new-redemption', label: text('palette.newRedemption'), to: '/redemption/add' },
        ]
      : []),
  ]
  // If the browser refuses to copy, the tokens page opens, which shows the URL.
  const copyAddress = () => void copyText(`${serverAddress()}/v1`, { fallback: () => go('/token') })
  return [
    ...forms.map(({ id, label, to }) => ({ id, group, label, run: () => go(to) })),
    { id: 'copy-base-url', group, label: text('palette.copyBaseUrl'), words: 'API', run: copyAddress },
  ]
}
