import { ChevronDown, ChevronUp, Columns3 } from 'lucide-react'
import { setDensity, useDensity } from '../../lib/preferences.ts'
import { useText } from '../../lib/text.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Popover } from '../ui/popover.tsx'
import type { ColumnLayout } from './use-column-layout.ts'

/** Lets the user choose the visible columns and their order. */
export function ColumnChooser<Row>({ layout }: { layout: ColumnLayout<Row> }) {
  const t = useText()
  const density = useDensity()
  return (
    <Popover title={t('table.columns')} trigger={<IconButton label={t('table.columns')} icon={<Columns3 />} />}>
      <ul className="flex max-h-80 flex-col overflow-y-auto">
        {layout.all.map((column, index) => (
          <li key={column.id} className="flex items-center gap-1">
            <label className="flex min-h-7 flex-1 items-center gap-2 pr-4">
              <Checkbox
                checked={layout.isShown(column.id)}
                disabled={column.required}
                onChange={() => layout.toggle(column.id)}
              />
              <span className="first-letter:uppercase">{column.header}</span>
            </label>
            <IconButton
              label={t('table.column.up', { column: column.header })}
              icon={<ChevronUp />}
              disabled={index === 0}
              onClick={() => layout.move(column.id, -1)}
            />
            <IconButton
              label={t('table.column.down', { column: column.header })}
              icon={<ChevronDown />}
              disabled={index === layout.all.length - 1}
              onClick={() => layout.move(column.id, 1)}
            />
          </li>
        ))}
      </ul>
      <div className="mt-2 flex items-center justify-between gap-2 border-t border-line pt-2">
        <label className="flex min-h-7 items-center gap-2">
          <Checkbox
            checked={density === 'compact'}
            onChange={(event) => setDensity(event.target.checked ? 'compact' : 'comfortable')}
          />
          {t('table.density')}
        </label>
        <Button size="small" look="quiet" onClick={layout.reset}>
          {t('table.columns.reset')}
        </Button>
      </div>
    </Popover>
  )
}
