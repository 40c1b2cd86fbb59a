import { useEffect, useState } from 'react'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar, FilterSelect } from '../../components/data-table/filter-bar.tsx'
import { useList } from '../../components/data-table/use-list.ts'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Input } from '../../components/ui/input.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { auditColumns } from './audit-columns.tsx'
import { auditTrail } from './queries.ts'
import { parseSettingSearch, type SettingSearch } from './search.ts'

/** What actions are about. */
const kinds = ['login', 'user', 'token', 'channel', 'redemption', 'option', 'log'] as const

/** The audit trail: who did what, filtered by person, action and time. */
export function AuditPanel() {
  const t = useText()
  const [search, setSearch] = useUrlState(parseSettingSearch)
  const { actor, action, from, to } = search
  const list = useList(auditTrail, search, setSearch, {
    actor,
    action,
    start_timestamp: from,
    end_timestamp: to,
  })
  const active = [actor, action, from, to].filter((each) => each !== undefined).length
  const filter = (patch: Partial<SettingSearch>) => setSearch({ ...patch, page: undefined })
  const clear = () => filter({ actor: undefined, action: undefined, from: undefined, to: undefined })
  return (
    <>
      <p className="mb-3 text-sm text-muted">{t('audit.text')}</p>
      <DataTable
        name="audit"
        caption={t('setting.tab.audit')}
        columns={auditColumns(t)}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={(row) => String(row.id)}
        rowName={(row) => `${row.action} ${row.target}`}
        filters={<Filters search={search} active={active} onFilter={filter} onClear={clear} />}
        filtered={active > 0}
        onClearFilters={clear}
        empty={<EmptyState title={t('audit.empty')} text={t('audit.empty.text')} />}
      />
    </>
  )
}

interface FiltersProps {
  search: SettingSearch
  /** How many filters narrow the list. */
  active: number
  onFilter(patch: Partial<SettingSearch>): void
  onClear(): void
}

function Filters({ search, active, onFilter, onClear }: FiltersProps) {
  const t = useText()
  // How such actions begin; logging in is the one that has no verb.
  const choices = kinds.map((kind) => ({
    value: kind === 'login' ? kind : `${kind}.`,
    label: t(`audit.kind.${kind}`),
  }))
  return (
    <FilterBar active={active} onClear={onClear}>
      <ActorBox value={search.actor ?? ''} onSearch={(actor) => onFilter({ actor: actor || undefined })} />
      <FilterSelect
        label={t('audit.filter.action')}
        all={t('audit.filter.any')}
        value={search.action}
        choices={choices}
        onChange={(action) => onFilter({ action })}
      />
      <Moment name={t('audit.filter.from')} value={search.from} onChange={(from) => onFilter({ from })} />
      <Moment name={t('audit.filter.to')} value={search.to} onChange={(to) => onFilter({ to })} />
    </FilterBar>
  )
}

/** A person's whole name; the list is asked for on Enter. */
function ActorBox({ value, onSearch }: { value: string; onSearch(actor: string): void }) {
  const t = useText()
  const [typed, setTyped] = useState(value)
  // Back, forward and "clear filters" change who is looked for.
  useEffect(() => setTyped(value), [value])
  return (
    <form
      className="w-44 max-sm:flex-1 max-sm:basis-32"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(typed.trim())
      }}
    >
      <Input
        type="search"
        aria-label={t('audit.filter.actor')}
        placeholder={t('audit.filter.actor')}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value)
          // Emptied, by the box's own button or by hand: nobody is looked for any more.
          if (event.target.value === '' && value !== '') onSearch('')
        }}
      />
    </form>
  )
}

interface MomentProps {
  name: string
  /** Epoch seconds. */
  value: number | undefined
  onChange(seconds: number | undefined): void
}

function Moment({ name, value, onChange }: MomentProps) {
  return (
    <div className="flex items-center gap-1.5 text-sm text-muted max-sm:w-full">
      <span aria-hidden="true">{name}</span>
      <MomentBox label={name} value={value} onChange={onChange} />
    </div>
  )
}
