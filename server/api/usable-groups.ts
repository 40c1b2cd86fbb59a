import { ratioOne } from '../billing/price.ts'
import { ApiFailure } from '../http/api-failure.ts'
import type { Settings } from '../settings/settings.ts'

/** True if a user may choose a group for a token: the user's own group, or a group in UserUsableGroups. */
export function mayUseGroup(
  group: string,
  own: string,
  { UserUsableGroups }: Pick<Settings, 'UserUsableGroups'>,
): boolean {
  return group === own || UserUsableGroups.has(group)
}

/**
 * The groups that a user may choose for a token, each with its ratio for this user. The user's own group comes first.
 */
export function usableGroups(
  own: string,
  {
    UserUsableGroups,
    GroupRatio,
    GroupGroupRatio,
  }: Pick<Settings, 'UserUsableGroups' | 'GroupRatio' | 'GroupGroupRatio'>,
): Record<string, { desc: string; ratio: number }> {
  const names = [own, ...[...UserUsableGroups.keys()].filter((name) => name !== own)]
  return Object.fromEntries(
    names.map((name) => {
      const pair = GroupGroupRatio.get(own)?.get(name)
      const ratio = pair === undefined ? (GroupRatio[name] ?? 1) : Number(pair) / Number(ratioOne)
      return [name, { desc: UserUsableGroups.get(name) ?? '', ratio }]
    }),
  )
}

/**
 * The group to store for a token. The owner's group is stored as '', so that the token follows its owner to another
 * group. Throws ApiFailure if the owner may not choose the group.
 */
export function tokenGroup(group: string | null, own: string, settings: Pick<Settings, 'UserUsableGroups'>): string {
  const wanted = group?.trim() ?? ''
  if (wanted === '' || wanted === own) return ''
  if (!mayUseGroup(wanted, own, settings)) throw new ApiFailure(`You cannot use the group ${wanted}.`)
  return wanted
}
