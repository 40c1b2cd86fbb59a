import { logType } from '../../../contract/log-types.ts'
import { type DotColor, Status } from '../../components/ui/badge.tsx'
import { type Text, useText } from '../../lib/text.ts'

/** The types that the list can be filtered by, in one-api's order. */
export const shownTypes = [
  logType.topUp,
  logType.consume,
  logType.manage,
  logType.system,
  logType.test,
  logType.error,
] as const

/** The label of a type. */
export function typeText(type: number, t: Text): string {
  switch (type) {
    case logType.topUp:
      return t('log.type.topUp')
    case logType.consume:
      return t('log.type.consume')
    case logType.manage:
      return t('log.type.manage')
    case logType.system:
      return t('log.type.system')
    case logType.test:
      return t('log.type.test')
    case logType.error:
      return t('log.type.error')
    default:
      return t('log.type.unknown')
  }
}

const colors: Readonly<Record<number, DotColor>> = {
  [logType.topUp]: 'green',
  [logType.consume]: 'olive',
  [logType.manage]: 'orange',
  [logType.system]: 'purple',
  [logType.test]: 'accent',
  [logType.error]: 'red',
}

/** The colour of a type, for its dot and its bars. */
function typeColor(type: number): DotColor {
  return colors[type] ?? 'grey'
}

/** The type of a row. */
export function LogTypeLabel({ type }: { type: number }) {
  const t = useText()
  return <Status color={typeColor(type)}>{typeText(type, t)}</Status>
}
