import { api } from '../../../contract/api/index.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { type ApiRouter, serve } from '../../http/serve-endpoint.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { endOldKey, lockToken, replaceKey, type TokenRow, tokenOf } from '../../store/accounts/tokens.ts'
import { recordAudit } from '../../store/installation/audit.ts'
import type { Trx } from '../../store/store.ts'
import { auditEvent } from '../audit-event.ts'
import type { Announce, ApiDeps } from '../deps.ts'
import { newKey } from './new-key.ts'
import { tokenView } from './token-view.ts'

type RotateDeps = Pick<ApiDeps, 'store' | 'secrets' | 'clock'> & { announce: Announce }

/** Calls that give a person's own tokens new keys, or that end old keys. */
export function mountRotation(router: ApiRouter, { store, secrets, clock, announce }: RotateDeps): void {
  serve(router, api.token.rotate, async (call) => {
    const { id } = call.params
    const keep = call.body.keep_seconds
    const now = epochSeconds(clock)
    const until = keep === 0 ? 0 : now + keep
    const key = newKey(secrets)
    const row = await store.write(async (trx) => {
      const token = await owned(trx, call.person.id, id)
      await replaceKey(trx, token, { ...key, until })
      const detail = `${JSON.stringify(token.name)}, old key valid for ${keep} s`
      await recordAudit(trx, auditEvent(clock, call, 'token.rotate', `token ${id}`, detail))
      return changed(trx, call.person.id, id)
    })
    await announce({ topic: 'token', id })
    return tokenView(row, secrets, now)
  })

  serve(router, api.token.endOldKey, async (call) => {
    const { id } = call.params
    const row = await store.write(async (trx) => {
      const token = await owned(trx, call.person.id, id)
      if (token.old_key_until !== 0) {
        await endOldKey(trx, id)
        const detail = JSON.stringify(token.name)
        await recordAudit(trx, auditEvent(clock, call, 'token.end-old-key', `token ${id}`, detail))
      }
      return changed(trx, call.person.id, id)
    })
    await announce({ topic: 'token', id })
    return tokenView(row, secrets, epochSeconds(clock))
  })
}

async function owned(trx: Trx, userId: number, id: number): Promise<TokenRow> {
  const token = await lockToken(trx, userId, id)
  if (!token) throw new ApiFailure('Token not found.')
  return token
}

async function changed(trx: Trx, userId: number, id: number): Promise<TokenRow> {
  const token = await tokenOf(trx, userId, id)
  if (!token) throw new ApiFailure('Token not found.')
  return token
}
