import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { useCommands } from '../lib/commands.ts'
import { sessionUser } from '../lib/session.ts'
import { readStoredJson, type StorageKey, writeStored } from '../lib/storage.ts'
import { useText } from '../lib/text.ts'
import { Button } from './ui/button.tsx'
import { IconButton } from './ui/icon-button.tsx'
import { Input } from './ui/input.tsx'
import { Popover } from './ui/popover.tsx'

/** A saved search with a name. */
interface View<S> {
  name: string
  search: Partial<S>
}

interface SavedViewsProps<S extends object> {
  /** The page that the views belong to. */
  page: string
  /** The current search, which can be saved. */
  search: Partial<S>
  /** Replaces the current search with a saved one. */
  onShow(search: Partial<S>): void
}

/** The views that this user saved in this browser. The palette offers them, too. The area `table` must be loaded. */
export function SavedViews<S extends object>({ page, search, onShow }: SavedViewsProps<S>) {
  const t = useText()
  const key: StorageKey = `ui.views.${page}.${sessionUser()?.id ?? 0}`
  const [views, setViews] = useState(() => storedViews<S>(key))
  const [name, setName] = useState('')
  useCommands(() =>
    views.map((view) => ({
      id: `view ${page} ${view.name}`,
      group: t('table.views'),
      label: view.name,
      run: () => onShow(view.search),
    })),
  )
  const keep = (next: View<S>[]) => {
    writeStored(key, JSON.stringify(next))
    setViews(next)
  }
  const save = () => {
    const named = name.trim()
    if (named === '') return
    keep([...views.filter((view) => view.name !== named), { name: named, search }])
    setName('')
  }
  return (
    <Popover title={t('table.views')} align="start" trigger={<Button icon={<Bookmark />}>{t('table.views')}</Button>}>
      <div className="flex w-64 flex-col gap-2">
        {views.length === 0 && <p className="text-sm text-muted">{t('table.views.none')}</p>}
        <ul>
          {views.map((view) => (
            <li key={view.name} className="flex items-center gap-1">
              <button
                type="button"
                className="min-w-0 flex-1 truncate rounded-md px-2 py-1.5 text-start text-sm hover:bg-active"
                onClick={() => onShow(view.search)}
              >
                {view.name}
              </button>
              <IconButton
                label={t('table.views.remove', { name: view.name })}
                icon={<X />}
                onClick={() => keep(views.filter((other) => other !== view))}
              />
            </li>
          ))}
        </ul>
        <form
          className="flex gap-2 border-t border-line pt-2"
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <Input
            aria-label={t('table.views.name')}
            placeholder={t('table.views.name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button type="submit" disabled={name.trim() === ''}>
            {t('do.save')}
          </Button>
        </form>
      </div>
    </Popover>
  )
}

function storedViews<S>(key: StorageKey): View<S>[] {
  const value = readStoredJson(key)
  return Array.isArray(value) ? value.filter((view): view is View<S> => typeof view?.name === 'string') : []
}
