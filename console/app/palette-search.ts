import { useEffect, useState } from 'react'
import { type Channel, channelApi } from '../../contract/api/channel.ts'
import { type Redemption, redemptionApi } from '../../contract/api/redemption.ts'
import { type Token, tokenApi } from '../../contract/api/token.ts'
import { type User, userApi } from '../../contract/api/user.ts'
import { channelStatus, redemptionExpired, redemptionStatus, tokenStatus, userStatus } from '../../contract/statuses.ts'
import { call } from '../lib/call.ts'
import { statusNow } from '../lib/code-status.ts'
import type { Command } from '../lib/commands.ts'
import type { DotColor } from '../lib/dot-color.ts'
import { formatQuota } from '../lib/format.ts'
import { queryClient } from '../lib/query-client.ts'
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
/** How many matches of each kind are read, to show the best of them. */
const mostRead = 50

/** Opens a page of the console. */
type Go = (to: { to: string; search?: Record<string, string> }) => void

interface Kind {
  id: 'token' | 'channel' | 'user' | 'redemption'
  group: string
  ask(): Promise<Found[]>
}

/** A search result, with its second line. */
interface Found extends Mark {
  id: number
  name: string
  provider?: string
}

interface Mark {
  detail: string
  dot: DotColor
}

/** The channel types, whose names and colours mark channels in the results; empty if they cannot be loaded. */
const channelTypes = () =>
  queryClient
    .ensureQueryData({
      queryKey: ['palette', 'types'],
      queryFn: ({ signal }) => call(channelApi.types, {}, { signal, quiet: true }),
    })
    .catch(() => [])

/** Tokens, channels, users and redemption codes whose name or id matches the typed text. */
async function findThings(words: string, user: SessionUser, go: Go, signal: AbortSignal): Promise<Command[]> {
  const input = { query: { keyword: words, size: mostRead } }
  const options = { signal, quiet: true }
  const own: Kind = {
    id: 'token',
    group: text('menu.token'),
    ask: async () => (await call(tokenApi.search, input, options)).map((row) => ({ ...row, ...tokenMark(row) })),
  }
  const others: Kind[] = [
    {
      id: 'channel',
      group: text('menu.channel'),
      ask: async () => {
        const [rows, types] = await Promise.all([call(channelApi.search, input, options), channelTypes()])
        return rows.map((row) => {
          const provider = types.find(({ type }) => type === row.type)?.label
          return { ...row, ...channelMark(row), ...(provider !== undefined && { provider }) }
        })
      },
    },
    {
      id: 'user',
      group: text('menu.user'),
      ask: async () =>
        (await call(userApi.search, input, options)).map((row) => ({ ...row, name: row.username, ...userMark(row) })),
    },
    {
      id: 'redemption',
      group: text('menu.redemption'),
      ask: async () => (await call(redemptionApi.search, input, options)).map((row) => ({ ...row, ...codeMark(row) })),
    },
  ]
  const found = await Promise.all(
    [own, ...(isAdmin(user) ? others : [])].map(async ({ id, group, ask }) => {
      // If the search for one kind fails, the results of the other kinds are still shown.
      const rows = await ask().catch(() => [])
      return bestFirst(rows, words)
        .slice(0, mostOfKind)
        .map(
          (row): Command => ({
            id: `${id} ${row.id}`,
            group,
            label: row.name || `#${row.id}`,
            detail: row.detail,
            dot: row.dot,
            ...(row.provider !== undefined && { provider: row.provider }),
            run: () =>
              go(
                id === 'redemption'
                  ? { to: `/redemption/edit/${row.id}` }
                  : { to: `/${id}`, search: { peek: String(row.id) } },
              ),
          }),
        )
    }),
  )
  return found.flat()
}

/** Names that equal the typed text come first, then those that begin with it. The others keep their order. */
function bestFirst(rows: readonly Found[], words: string): Found[] {
  const typed = words.toLowerCase()
  const rank = ({ id, name }: Found) => {
    const known = name.toLowerCase()
    if (known === typed || String(id) === typed) return 0
    return known.startsWith(typed) ? 1 : 2
  }
  return rows.toSorted((one, other) => rank(one) - rank(other))
}

const lineOf = (parts: readonly (string | undefined)[]) => parts.filter((part) => part).join(' · ')

function tokenMark(token: Pick<Token, 'status' | 'expired_time'> & Partial<Token>): Mark {
  const { status, expired_time, remain_quota, unlimited_quota } = token
  const isOver = expired_time !== -1 && expired_time * 1000 <= Date.now()
  const now = status === tokenStatus.enabled && isOver ? tokenStatus.expired : status
  const words = {
    [tokenStatus.enabled]: text('status.enabled'),
    [tokenStatus.disabled]: text('status.disabled'),
    [tokenStatus.expired]: text('palette.expired'),
    [tokenStatus.exhausted]: text('palette.exhausted'),
  } as Record<number, string>
  const left = unlimited_quota ? text('value.unlimited') : remain_quota !== undefined && formatQuota(remain_quota)
  return {
    dot: now === tokenStatus.enabled ? 'green' : now === tokenStatus.disabled ? 'red' : 'grey',
    detail: lineOf([words[now] ?? text('status.unknown'), left || undefined]),
  }
}

function channelMark({ status, status_reason, test_error, group }: Channel): Mark {
  if (status === channelStatus.enabled)
    return { dot: test_error ? 'orange' : 'green', detail: lineOf([text('status.enabled'), test_error || group]) }
  return status === channelStatus.disabled
    ? { dot: 'red', detail: text('status.disabled') }
    : { dot: 'orange', detail: lineOf([text('palette.autoDisabled'), status_reason]) }
}

function userMark({ status, display_name, quota }: User): Mark {
  const enabled = status === userStatus.enabled
  const word = text(enabled ? 'status.enabled' : 'status.disabled')
  return { dot: enabled ? 'green' : 'red', detail: lineOf([word, display_name, formatQuota(quota)]) }
}

function codeMark(code: Redemption): Mark {
  const [dot, word] = codeWord(statusNow(code))
  return { dot, detail: lineOf([word, formatQuota(code.quota)]) }
}

function codeWord(status: number): [DotColor, string] {
  if (status === redemptionExpired) return ['grey', text('palette.expired')]
  if (status === redemptionStatus.unused) return ['green', text('palette.unused')]
  if (status === redemptionStatus.used) return ['grey', text('palette.used')]
  return ['red', text('status.disabled')]
}

/**
 * Matches a text that looks like a whole key. A key must never become part of a URL, so such a text is not searched for
 * by name.
 */
const wholeKey = /^(?:sk-[\w-]{16,}|[A-Za-z0-9]{48})$/

/** Finds the token by the key that was typed or pasted. The key is sent in the request body. */
async function findKey(key: string, user: SessionUser, go: Go, signal: AbortSignal): Promise<Command[]> {
  const token = await call(tokenApi.find, { body: { key } }, { signal, quiet: true })
  const isOwn = token.user_id === user.id
  const mark = tokenMark(token)
  return [
    {
      id: `token ${token.id}`,
      group: text('menu.token'),
      label: token.name || `#${token.id}`,
      dot: mark.dot,
      detail: isOwn ? mark.detail : lineOf([mark.detail, text('palette.owner', { name: token.username })]),
      // Administrators cannot see other users' tokens, so the command opens the token's owner.
      run: () =>
        go(
          isOwn
            ? { to: '/token', search: { peek: String(token.id) } }
            : { to: '/user', search: { peek: String(token.user_id) } },
        ),
    },
  ]
}

/** Opens the request whose id was typed or pasted. */
function requestCommand(words: string, go: Go): Command | undefined {
  if (!isRequestId(words) || isClassicServer()) return undefined
  return {
    id: `request ${words}`,
    group: text('menu.log'),
    label: text('palette.openRequest', { id: words }),
    run: () => go({ to: `/log/${words}` }),
  }
}

/** Results for the typed text, searched a moment after the last keystroke; empty if too few letters were typed. */
export function useThings(typed: string, user: SessionUser | undefined, go: Go): readonly Command[] {
  const [found, setFound] = useState<readonly Command[]>([])
  const words = typed.trim()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a search depends only on the typed text
  useEffect(() => {
    const request = requestCommand(words, go)
    setFound(user && request ? [request] : [])
    if (!user || request || words.length < leastLetters || words.startsWith('>')) return
    const asking = new AbortController()
    const timer = setTimeout(() => {
      const isKey = wholeKey.test(words)
      // On a server that cannot find keys, nothing is searched, because the search would put the key into the URL.
      const find =
        isKey && isClassicServer()
          ? Promise.resolve([])
          : (isKey ? findKey : findThings)(words, user, go, asking.signal)
      find.then(
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
