import * as z from 'zod/mini'
import { usernameSchema } from '../../../contract/api/user.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { parseInput } from '../../http/parse-input.ts'
import { takeUsername } from '../../store/accounts/users.ts'
import type { Trx } from '../../store/store.ts'

const named = z.object({ username: usernameSchema })

/**
 * The name that a change requests, validated; undefined if the name is unchanged. The rules apply to new names only,
 * because imported accounts may have names that break them and clients send whole records back.
 */
export async function newUsername(
  trx: Trx,
  user: { id: number; username: string },
  wanted: string | undefined,
): Promise<string | undefined> {
  if (wanted === undefined || wanted === '' || wanted === user.username) return undefined
  const { username } = parseInput(named, { username: wanted })
  if (!(await takeUsername(trx, username, user.id))) throw new ApiFailure('This username is already taken.')
  return username
}
