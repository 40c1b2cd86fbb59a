import { Bookmark, X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Popover } from '../../components/ui/popover.tsx'
import { sessionUser } from '../../lib/session.ts'
import { readStoredJson, type StorageKey, writeStored } from '../../lib/storage.ts'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { noFilters } from './filters.ts'
import { type LogSearch, parseLogSearch } from './search.ts'

/** A search under a name. */
interface View {
  name: string
  search: Partial<LogSearch>
}

const keyOf = (): StorageKey => `ui.views.log.${sessionUser()?.id ?? 0}`

function storedViews(): View[] {
  const value = readStoredJson(keyOf())
  return Array.isArray(value) ? value.filter((view): view is View => typeof view?.name === 'string') : []
}

/** Views that this person saved in this browser. */
export function SavedViews() {
  const t = useText()
  const [search, setSearch] = useUrlState(parseLogSearch)
  const [views, setViews] = useState(storedViews)
  const [name, setName] = useState('')
  const keep = (next: View[]) => {
    writeStored(keyOf(), JSON.stringify(next))
    setViews(next)
  }
  const save = () => {
    const named = name.trim()
    if (named === '') return
    const { page: _page, peek: _peek, ...kept } = search
    keep([...views.filter((view) => view.name !== named), { name: named, search: kept }])
    setName('')
  }
  return (
    <Popover title={t('log.views')} trigger={<Button icon={<Bookmark />}>{t('log.views')}</Button>}>
      <div className="flex w-64 flex-col gap-2">
        {views.length === 0 && <p className="text-sm text-muted">{t('log.views.none')}</p>}
        <ul>
          {views.map((view) => (
            <li key={view.name} className="flex items-center gap-1">
              <button
                type="button"
                className="min-w-0 flex-1 truncate rounded-md px-2 py-1.5 text-start text-sm hover:bg-active"
                onClick={() => setSearch({ ...noFilters, mine: undefined, sort: undefined, ...view.search })}
              >
                {view.name}
              </button>
              <IconButton
                label={t('log.views.remove', { name: view.name })}
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
            aria-label={t('log.views.name')}
            placeholder={t('log.views.name')}
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
