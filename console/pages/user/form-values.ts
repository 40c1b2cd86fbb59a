import * as z from 'zod/mini'
import { quotaField } from '../../../contract/api/fields.ts'
import { type User, updateSelfBody, updateUserBody, usernameSchema } from '../../../contract/api/user.ts'
import { type LimitValues, limitRules, limitValues } from '../../components/form/limit-fields.tsx'

/** Form values of a user. An empty password keeps the current one. */
export interface UserValues extends LimitValues {
  username: string
  display_name: string
  password: string
  group: string
  quota: number
}

/**
 * The validation rules of the contract. An administrator's form has more fields. Existing names are not validated
 * again.
 */
export function userFormSchema(admin: boolean) {
  const name = z.union([usernameSchema, z.string().check(z.minLength(1))])
  if (!admin) return z.object({ ...updateSelfBody.shape, username: name })
  return z.object({
    ...updateUserBody.shape,
    id: z.optional(z.int()),
    username: name,
    quota: quotaField,
    ...limitRules,
  })
}

/** The values of an existing user. */
export function userValues(user: User): UserValues {
  return {
    username: user.username,
    display_name: user.display_name,
    password: '',
    group: user.group,
    quota: user.quota,
    ...limitValues(user),
  }
}

/**
 * Only the values that were changed. If the balance was not edited, sending it would undo what calls have spent since
 * the form was opened.
 */
export function changesOf(values: UserValues, before: UserValues): Partial<UserValues> {
  const names = Object.keys(values) as (keyof UserValues)[]
  return Object.fromEntries(names.filter((name) => values[name] !== before[name]).map((name) => [name, values[name]]))
}

/**
 * All fields of an account in the console's specification. All are sent, because some servers treat a missing field as
 * empty.
 */
export function classicBody({ username, display_name, password, group, quota }: UserValues): Partial<UserValues> {
  return { username, display_name, password, group, quota }
}
