import { DataTable } from '../../components/data-table/data-table.tsx'
import { useList } from '../../components/data-table/use-list.ts'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Input, Select } from '../../components/ui/input.tsx'
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
  const filter = (patch: Partial<SettingSearch>) => setSearch({ ...patch, page: undefined })
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
        filters={<Filters search={search} onFilter={filter} />}
        filtered={[actor, action, from, to].some((each) => each !== undefined)}
        onClearFilters={() => filter({ actor: undefined, action: undefined, from: undefined, to: undefined })}
        empty={<EmptyState title={t('audit.empty')} text={t('audit.empty.text')} />}
      />
    </>
  )
}

function Filters({ search, onFilter }: { search: SettingSearch; onFilter(patch: Partial<SettingSearch>): void }) {
  const t = useText()
  return (
    <>
      <form
        key={search.actor}
        className="w-44 max-sm:w-full"
        onSubmit={(event) => {
          event.preventDefault()
          const typed = String(new FormData(event.currentTarget).get('actor') ?? '').trim()
          onFilter({ actor: typed === '' ? undefined : typed })
        }}
      >
        <Input
          name="actor"
          type="search"
          aria-label={t('audit.filter.actor')}
          placeholder={t('audit.filter.actor')}
          defaultValue={search.actor ?? ''}
        />
      </form>
      <Select
        aria-label={t('audit.filter.action')}
        value={search.action ?? ''}
        onChange={(event) => onFilter({ action: event.target.value === '' ? undefined : event.target.value })}
        className="w-40! max-sm:w-full!"
      >
        <option value="">{t('audit.filter.any')}</option>
        {kinds.map((kind) => (
          // How such actions begin; logging in is the one that has no verb.
          <option key={kind} value={kind === 'login' ? kind : `${kind}.`}>
            {t(`audit.kind.${kind}`)}
          </option>
        ))}
      </Select>
      <Moment name={t('audit.filter.from')} value={search.from} onChange={(from) => onFilter({ from })} />
      <Moment name={t('audit.filter.to')} value={search.to} onChange={(to) => onFilter({ to })} />
    </>
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
