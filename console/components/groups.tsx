import { useText } from '../lib/text.ts'
import { Badge, type DotColor } from './ui/badge.tsx'
import { Popover } from './ui/popover.tsx'

/** How many chips a cell shows, so that rows stay equally high. */
const mostShown = 2

/** On a laptop screen with the menu open, a cell has room for only one chip and the number of further groups. */
const narrow = { hidden: 'sm:max-[90rem]:hidden', shown: 'hidden sm:max-[90rem]:inline' }

const colors: Readonly<Record<string, DotColor>> = {
  vip: 'yellow',
  pro: 'yellow',
  svip: 'red',
  premium: 'red',
}

interface GroupsProps {
  /** The names of the groups, as a list or separated by commas. If there are none, `none` or "default" is shown. */
  group: string | readonly string[]
  /** Shows all names. Set this only where there is room for them. */
  all?: boolean
  /** The text that is shown if `group` contains no names. */
  none?: string
}

/** Groups as chips: the first two and, behind a button, the others; or all of them. */
export function Groups({ group, all = false, none }: GroupsProps) {
  const t = useText()
  const names = (typeof group === 'string' ? group.split(',') : [...group])
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .sort()
  const known = names.length > 0 ? names : [none ?? t('value.default')]
  const shown = all ? known : known.slice(0, mostShown)
  const others = known.length - shown.length
  return (
    <span className={`inline-flex max-w-full items-center gap-1 ${all ? 'flex-wrap' : ''}`}>
      {shown.map((name, index) => (
        <span key={name} className={`flex max-w-full ${others > 0 && index > 0 ? narrow.hidden : ''}`}>
          <Chip name={name} />
        </span>
      ))}
      {others > 0 && (
        <Popover
          title={t('table.groups')}
          align="start"
          trigger={
            <button
              type="button"
              aria-label={t('table.groups.all', { count: known.length })}
              className="num inline-flex h-5 min-w-6 items-center justify-center rounded-sm border border-line bg-sunken px-1.5 text-xs font-medium text-fg hover:border-edge max-sm:min-h-6"
            >
              <span className={narrow.hidden}>+{others}</span>
              <span className={narrow.shown}>+{known.length - 1}</span>
            </button>
          }
        >
          <ul className="flex max-h-60 flex-wrap gap-1 overflow-y-auto">
            {known.map((name) => (
              <li key={name} className="flex max-w-full">
                <Chip name={name} />
              </li>
            ))}
          </ul>
        </Popover>
      )}
    </span>
  )
}

function Chip({ name }: { name: string }) {
  const color = colors[name]
  return (
    <Badge title={name} {...(color !== undefined && { color })}>
      {name}
    </Badge>
  )
}
