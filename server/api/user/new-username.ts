import * as z from 'zod/mini'
import { usernameSchema } from '../../../contract/api/user.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import { parseInput } from '../../http/parse-input.ts'
import { takeUsername } from '../../store/accounts/users.ts'
import type { Trx } from '../../store/store.ts'

const named = z.object({ username: usernameSchema })

/**
 * The name that a change asks for, validated; undefined if it is unchanged. The rules apply to new names only: imported
 * accounts may have older ones, and clients send records back as a whole.
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
