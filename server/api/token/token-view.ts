import type { Token } from '../../../contract/api/token.ts'
import type { Secrets } from '../../lib/secrets/secrets.ts'
import { isHashedKey } from '../../lib/secrets/token-key.ts'
import type { TokenRow } from '../../store/accounts/tokens.ts'
import { spentNow } from '../spent-now.ts'

/** A token as its owner sees it. After a rotation, the old key is never shown again. */
export function tokenView(row: TokenRow, secrets: Secrets, now: number): Token {
  const { old_key: _, old_key_hash: __, ...shown } = row
  const key = secrets.open(row.key, 'token')
  return {
    ...shown,
    ...spentNow(row, now),
    key: isHashedKey(key) ? '' : key,
    unlimited_quota: Boolean(row.unlimited_quota),
    old_key_until: row.old_key_until > now ? row.old_key_until : 0,
  }
}
