import { Ellipsis } from 'lucide-react'
import { useText } from '../../lib/text.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Menu } from '../ui/menu.tsx'
import type { RowAction } from './types.ts'

/** The actions of a row: the primary ones as buttons, the rest in a menu. */
export function RowActions({ actions, rowName }: { actions: readonly RowAction[]; rowName: string }) {
  const t = useText()
  const primary = actions.filter((action) => action.primary)
  const others = actions.filter((action) => !action.primary)
  return (
    <div className="flex items-center justify-end gap-0.5">
      {primary.map((action) => (
        <IconButton
          key={action.id}
          label={`${action.label}: ${rowName}`}
          title={action.hint ?? action.label}
          icon={action.icon}
          disabled={action.disabled}
          onClick={action.run}
        />
      ))}
      {others.length > 0 && (
        <Menu
          label={t('table.actions.of', { row: rowName })}
          trigger={<IconButton label={t('table.actions.of', { row: rowName })} icon={<Ellipsis />} />}
          entries={others}
        />
      )}
    </div>
  )
}
