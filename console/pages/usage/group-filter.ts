import type { UsageView } from './queries.ts'

/** What the figures are grouped by. */
export type Group = Exclude<UsageView['group'], 'none'>

/** The next grouping when the user drills down: models and projects are grouped by token, everything else by model. */
export const nextGroup = { model: 'token', token: 'model', project: 'token', user: 'model', channel: 'model' } as const

/** A filter for the calls of a group. Undefined if the group cannot be filtered by, such as calls without a project. */
export function filterOf(
  by: Group,
  { key, name }: { key: string; name: string },
): Partial<Record<Group, string>> | undefined {
  if (by === 'channel') return key === '0' ? undefined : { channel: key }
  return name === '' ? undefined : { [by]: name }
}
