import { useEffect, useMemo, useState } from 'react'
import type { AuditRow } from '../../../contract/api/audit.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { FilterBar, FilterSelect } from '../../components/data-table/filter-bar.tsx'
import { useList } from '../../components/data-table/use-list.ts'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Input } from '../../components/ui/input.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { auditColumns } from './audit-columns.tsx'
import { auditTrail } from './queries.ts'
import { parseSettingSearch, type SettingSearch } from './search.ts'

/** Kinds of targets that actions can have. */
const kinds = ['login', 'user', 'token', 'channel', 'redemption', 'option', 'alert', 'log', 'capture'] as const

const rowId = (row: AuditRow) => String(row.id)
const rowName = (row: AuditRow) => `${row.action} ${row.target}`

/** The audit log, which shows who did what; it can be filtered by user, action and time. */
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
  const columns = useMemo(() => auditColumns(t), [t])
  const active = [actor, action, from, to].filter((each) => each !== undefined).length
  const filter = (patch: Partial<SettingSearch>) => setSearch({ ...patch, page: undefined })
  const [typed, setTyped] = useState(actor ?? '')
  // Updates the box when the browser's back and forward buttons change the user who is searched for.
  useEffect(() => setTyped(actor ?? ''), [actor])
  const seek = (name: string) => filter({ actor: name || undefined })
  const clear = () => {
    // Text that was typed but not submitted is also cleared.
    setTyped('')
    filter({ actor: undefined, action: undefined, from: undefined, to: undefined })
  }
  return (
    <>
      <p className="mb-3 text-sm text-muted">{t('audit.text')}</p>
      <DataTable
        name="audit"
        caption={t('setting.tab.audit')}
        columns={columns}
        list={list}
        search={search}
        setSearch={setSearch}
        rowId={rowId}
        rowName={rowName}
        filters={
          <FilterBar active={active} onClear={clear}>
            <ActorBox value={typed} sought={actor ?? ''} onType={setTyped} onSearch={seek} />
            <Choices search={search} onFilter={filter} />
          </FilterBar>
        }
        filtered={active > 0}
        onClearFilters={clear}
        empty={<EmptyState title={t('audit.empty')} text={t('audit.empty.text')} />}
      />
    </>
  )
}

interface ChoicesProps {
  search: SettingSearch
  onFilter(patch: Partial<SettingSearch>): void
}

function Choices({ search, onFilter }: ChoicesProps) {
  const t = useText()
  // Each value is the common prefix of a kind's actions. `login` is the only action without a verb, so its value has no
  // dot.
  const choices = kinds.map((kind) => ({
    value: kind === 'login' ? kind : `${kind}.`,
    label: t(`audit.kind.${kind}`),
  }))
  return (
    <>
      <FilterSelect
        label={t('audit.filter.action')}
        all={t('audit.filter.any')}
        value={search.action}
        choices={choices}
        onChange={(action) => onFilter({ action })}
      />
      <Moment name={t('audit.filter.from')} value={search.from} onChange={(from) => onFilter({ from })} />
      <Moment name={t('audit.filter.to')} value={search.to} onChange={(to) => onFilter({ to })} />
    </>
  )
}

interface ActorBoxProps {
  /** The typed text, submitted or not. */
  value: string
  /** The user whose actions are shown; '' = all users. */
  sought: string
  onType(text: string): void
  onSearch(actor: string): void
}

/** A box for a full user name; the list is loaded on Enter. */
function ActorBox({ value, sought, onType, onSearch }: ActorBoxProps) {
  const t = useText()
  return (
    <form
      className="w-44 max-sm:flex-1 max-sm:basis-32"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(value.trim())
      }}
    >
      <Input
        type="search"
        aria-label={t('audit.filter.actor')}
        placeholder={t('audit.filter.actor')}
        value={value}
        onChange={(event) => {
          onType(event.target.value)
          // Emptying the box, with its clear button or by hand, ends the search for a user.
          if (event.target.value === '' && sought !== '') onSearch('')
        }}
      />
    </form>
  )
}

interface MomentProps {
  name: string
  /** The moment in epoch seconds. */
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
