import * as z from 'zod/mini'
import { quotaField } from '../../../contract/api/fields.ts'
import { type User, updateSelfBody, updateUserBody, usernameSchema } from '../../../contract/api/user.ts'
import { type LimitValues, limitRules, limitValues } from '../../components/form/limit-fields.tsx'

/** What the form of a user holds. An empty password stays as it is. */
export interface UserValues extends LimitValues {
  username: string
  display_name: string
  password: string
  group: string
  quota: number
}

/** The rules of the contract; an admin's form has more fields. Names that exist already are not judged again. */
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

/** The values of a user who exists. */
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

/** Only what was changed: a balance that nobody touched must not undo what calls spent meanwhile. */
export function changesOf(values: UserValues, before: UserValues): Partial<UserValues> {
  const names = Object.keys(values) as (keyof UserValues)[]
  return Object.fromEntries(names.filter((name) => values[name] !== before[name]).map((name) => [name, values[name]]))
}

/** All fields of the specification, for servers that take what is missing for empty. */
export function classicBody({ username, display_name, password, group, quota }: UserValues): Partial<UserValues> {
  return { username, display_name, password, group, quota }
}
