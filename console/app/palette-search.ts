import { useEffect, useState } from 'react'
import { channelApi } from '../../contract/api/channel.ts'
import { redemptionApi } from '../../contract/api/redemption.ts'
import { tokenApi } from '../../contract/api/token.ts'
import { userApi } from '../../contract/api/user.ts'
import { call } from '../lib/call.ts'
import type { Command } from '../lib/commands.ts'
import { isRequestId } from '../lib/request-id.ts'
import { isAdmin, type SessionUser } from '../lib/session.ts'
import { isClassicServer } from '../lib/status.ts'
import { text } from '../lib/text.ts'

/**
 * Number of letters needed before a search starts, the delay after the last keystroke, and the maximum number of
 * results per kind.
 */
const leastLetters = 2
const pauseMs = 250
const mostOfKind = 5

/** Goes to an address of the console. */
type Go = (to: { to: string; search?: Record<string, string> }) => void

interface Named {
  id: number
  name?: string
  username?: string
}

const nameOf = ({ id, name, username }: Named) => username || name || `#${id}`

/** Tokens, channels, users and redemption codes whose name or id matches the typed text. */
async function findThings(words: string, user: SessionUser, go: Go, signal: AbortSignal): Promise<Command[]> {
  const input = { query: { keyword: words } }
  const options = { signal, quiet: true }
  const kinds = [
    { id: 'token', group: text('menu.token'), ask: () => call(tokenApi.search, input, options) },
    ...(isAdmin(user)
      ? [
          { id: 'channel', group: text('menu.channel'), ask: () => call(channelApi.search, input, options) },
          { id: 'user', group: text('menu.user'), ask: () => call(userApi.search, input, options) },
          { id: 'redemption', group: text('menu.redemption'), ask: () => call(redemptionApi.search, input, options) },
        ]
      : []),
  ]
  const found = await Promise.all(
    kinds.map(async ({ id, group, ask }) => {
      // If the search for one kind fails, the results of the other kinds are still shown.
      const rows: readonly Named[] = await ask().catch(() => [])
      return rows.slice(0, mostOfKind).map((row) => ({
        id: `${id} ${row.id}`,
        group,
        label: nameOf(row),
        // The server matches some results by id or key, so the typed text is added to the words that the palette
        // filters by.
        words,
        run: () =>
          go(
            id === 'redemption'
              ? { to: `/redemption/edit/${row.id}` }
              : { to: `/${id}`, search: { peek: String(row.id) } },
          ),
      }))
    }),
  )
  return found.flat()
}

/** Opens the request whose id was typed or pasted. */
function requestCommand(words: string, go: Go): Command | undefined {
  if (!isRequestId(words) || isClassicServer()) return undefined
  return {
    id: `request ${words}`,
    group: text('menu.log'),
    label: text('palette.openRequest', { id: words }),
    words,
    run: () => go({ to: `/log/${words}` }),
  }
}

/** Results for the typed text, searched a moment after the last keystroke; empty if too few letters were typed. */
export function useThings(typed: string, user: SessionUser | undefined, go: Go): readonly Command[] {
  const [found, setFound] = useState<readonly Command[]>([])
  const words = typed.trim()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same words find the same things
  useEffect(() => {
    const request = requestCommand(words, go)
    setFound(user && request ? [request] : [])
    if (!user || request || words.length < leastLetters) return
    const asking = new AbortController()
    const timer = setTimeout(() => {
      findThings(words, user, go, asking.signal).then(
        (things) => {
          if (!asking.signal.aborted) setFound(things)
        },
        () => undefined,
      )
    }, pauseMs)
    return () => {
      clearTimeout(timer)
      asking.abort()
    }
  }, [words, user?.id])
  return found
}
