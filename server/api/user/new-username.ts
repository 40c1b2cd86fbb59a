import * as z from 'zod/mini'
import { usernameSchema } from '../../../contract/api/user.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { parseInput } from '../../http/parse-input.ts'
import { takeUsername } from '../../store/accounts/users.ts'
import type { Trx } from '../../store/store.ts'

const named = z.object({ username: usernameSchema })

/**
 * The validated new name; undefined if the name is unchanged. The rules apply only to new names, because imported
 * accounts may have names that break the rules, and clients send whole records back.
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
