import { ratioOne } from '../billing/price.ts'
import { ApiFailure } from '../http/api-failure.ts'
import type { Settings } from '../settings/settings.ts'

/** The groups that a user may choose for a token: the user's own, and those in UserUsableGroups. */
export function mayUseGroup(
  group: string,
  own: string,
  { UserUsableGroups }: Pick<Settings, 'UserUsableGroups'>,
): boolean {
  return group === own || UserUsableGroups.has(group)
}

/** The groups that a user may choose for a token, the user's own first, each with its ratio for this user. */
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
 * The group to store for a token; '' for the owner's group, which the token then follows if the owner is moved to another
 * one. Throws ApiFailure if the owner may not choose the group.
 */
export function tokenGroup(group: string | null, own: string, settings: Pick<Settings, 'UserUsableGroups'>): string {
  const wanted = group?.trim() ?? ''
  if (wanted === '' || wanted === own) return ''
  if (!mayUseGroup(wanted, own, settings)) throw new ApiFailure(`You cannot use the group ${wanted}.`)
  return wanted
}
