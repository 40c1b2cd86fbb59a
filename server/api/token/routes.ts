import { api } from '../../../contract/api/index.ts'
import { maxProjects } from '../../../contract/api/token.ts'
import { maxFilterValues } from '../../../contract/filter-values.ts'
import { limitsSent } from '../../../contract/limits.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure, tooManyRequests } from '../../http/api-failure.ts'
import { listed, pageOf } from '../../http/list-page.ts'
import { createRateLimiter } from '../../http/rate-limit.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { foreignKeyHash, presentedKeyHash } from '../../lib/secrets/token-key.ts'
import {
  addToken,
  deleteToken,
  findOwnedToken,
  listTokens,
  projectsOf,
  type TokenRow,
  tokenOf,
} from '../../store/accounts/tokens.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { tokenGroup } from '../usable-groups.ts'
import { newKey } from './new-key.ts'
import { mountRotation } from './rotate-routes.ts'
import { parseExpiry, parseModels, parseSubnet } from './token-input.ts'
import { tokenView } from './token-view.ts'
import { updateOwnToken } from './update-token.ts'

type TokenDeps = Pick<ApiDeps, 'store' | 'secrets' | 'clock' | 'captures' | 'settings'> & { announce: Announce }

/**
 * The limit on key lookups per person. Guessing a key is hopeless, so the limit only protects the database from load.
 */
const findRule = { limit: 20, windowMs: 60_000 }

/**
 * A person's own tokens. Other people's tokens are treated as missing, even for admins. Only the lookup by key finds
 * them for admins.
 */
export function mountTokens(router: ApiRouter, deps: TokenDeps): void {
  const { store, secrets, clock, announce } = deps
  const view = (row: TokenRow) => tokenView(row, secrets, epochSeconds(clock))

  const filterOf = (query: { status: number; project: string; keyword?: string }) => ({
    ...query,
    now: epochSeconds(clock),
  })

  serve(router, api.token.list, async ({ person, query, context }) =>
    listed(context, await listTokens(store.read, person.id, pageOf(query), filterOf(query))).map(view),
  )

  serve(router, api.token.search, async ({ person, query, context }) =>
    listed(context, await listTokens(store.read, person.id, pageOf(query), filterOf(query))).map(view),
  )

  const tries = createRateLimiter(findRule, clock)
  serve(router, api.token.find, async ({ person, body }) => {
    const wait = tries.take(String(person.id))
    if (wait > 0) throw tooManyRequests(wait)
    const found = await findOwnedToken(
      store.read,
      spellings(body.key).flatMap((key) => [presentedKeyHash(key, secrets), foreignKeyHash(key, secrets)]),
      epochSeconds(clock),
    )
    // Other users' tokens are treated as missing, except for administrators.
    if (!found || (found.user_id !== person.id && person.role < roles.admin)) {
      throw new ApiFailure('No token has this key.')
    }
    return found
  })

  serve(router, api.token.projects, ({ person }) =>
    projectsOf(store.read, person.id, { most: maxProjects, mostNames: maxFilterValues }),
  )

  serve(router, api.token.get, async ({ person, params }) => {
    const row = await tokenOf(store.read, person.id, params.id)
    if (!row) throw new ApiFailure('Token not found.')
    return view(row)
  })

  serve(router, api.token.create, async (call) => {
    const { body, person } = call
    const remain_quota = body.remain_quota ?? 0
    if (remain_quota < 0) throw new ApiFailure('remain_quota must not be negative.')
    const row = await store.write(async (trx) => {
      const token = await addToken(trx, {
        user_id: person.id,
        ...newKey(secrets),
        name: body.name ?? '',
        created_time: epochSeconds(clock),
        expired_time: parseExpiry(body.expired_time),
        remain_quota,
        unlimited_quota: body.unlimited_quota ?? false,
        group: tokenGroup(body.group ?? null, person.group, deps.settings.current()),
        models: parseModels(body.models ?? null),
        subnet: parseSubnet(body.subnet ?? null),
        project: body.project ?? '',
        ...limitsSent(body),
      })
      await recordAudit(trx, auditEvent(clock, call, 'token.create', `token ${token.id}`, token.name))
      return token
    })
    // A node may have cached that this key does not exist.
    await announce({ topic: 'token', id: row.id })
    return view(row)
  })

  serve(router, api.token.update, async (call) => {
    const row = await updateOwnToken(deps, call)
    await announce({ topic: 'token', id: row.id })
    return view(row)
  })

  mountRotation(router, deps)

  serve(router, api.token.remove, async (call) => {
    const { id } = call.params
    await store.write(async (trx) => {
      const token = await deleteToken(trx, call.person.id, id)
      if (!token) throw new ApiFailure('Token not found.')
      await recordAudit(trx, auditEvent(clock, call, 'token.delete', `token ${id}`, JSON.stringify(token.name)))
    })
    deps.captures.sweepSoon()
    await announce({ topic: 'token', id })
  })
}

/** The keys to look up for a pasted text: without the prefix, and without the channel number that admins may append. */
function spellings(pasted: string): string[] {
  const key = pasted.replace(/^sk-/, '')
  return [key, key.replace(/-\d+$/, '')]
}
