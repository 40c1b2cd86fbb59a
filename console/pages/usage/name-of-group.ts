import type { Text } from '../../lib/text.ts'
import type { UsageView } from './queries.ts'

/** The name of a group, or of a row in the table. Requests without a project are a group of their own, without a name. */
export function nameOfGroup(by: UsageView['group'] | 'day' | undefined, name: string, t: Text): string {
  return name || t(by === 'project' ? 'usage.project.none' : 'usage.unnamed')
}
