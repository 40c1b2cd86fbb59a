import { ListFilter } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { focusFirst } from '../../components/data-table/focus-first.ts'
import { NameBox } from '../../components/data-table/name-box.tsx'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Select } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import type { SetSearch } from '../../lib/use-url-state.ts'
import { isFiltered, noFilters } from './filters.ts'
import { shownTypes, typeText } from './log-parts.tsx'
import { OutcomeFilter } from './outcome-filter.tsx'
import { type Span, spanOf } from './range.ts'
import type { LogSearch } from './search.ts'

interface FilterBarProps {
  search: LogSearch
  setSearch: SetSearch<LogSearch>
  everybody: boolean
}

/** The filters of the list. A choice applies immediately; typed text applies on Enter or when the button is pressed. */
export function FilterBar({ search, setSearch, everybody }: FilterBarProps) {
  const t = useText()
  const classic = useClassicServer()
  const [typed, setTyped] = useState(() => textsOf(search))
  useEffect(() => setTyped(textsOf(search)), [search])
  const names = useId()
  const [shown, setShown] = useState(() => Object.values(textsOf(search)).some((text) => text !== ''))
  const ranges = [
    { value: 'all', label: t('log.range.all') },
    { value: '1h', label: t('log.range.1h') },
    { value: '24h', label: t('log.range.24h') },
    { value: '7d', label: t('log.range.7d') },
    { value: '30d', label: t('log.range.30d') },
    { value: 'custom', label: t('log.range.custom') },
  ] as const
  const span = spanOf(search)
  const chooseRange = (next: Span | 'all' | 'custom') => {
    const from = next === 'all' ? undefined : next === 'custom' ? '0' : next
    setSearch({ from, to: undefined, page: undefined })
  }
  const apply = () =>
    setSearch({
      token: typed.token.trim() || undefined,
      model: typed.model.trim() || undefined,
      user: typed.user.trim() || undefined,
      channel: typed.channel.trim() || undefined,
      page: undefined,
    })
  const fields = [
    ['token', t('log.filter.token')],
    ['model', t('log.filter.model')],
    ...(everybody
      ? ([
          ['user', t('log.filter.user')],
          ['channel', t('log.filter.channel')],
        ] as const)
      : []),
  ] as const
  return (
    <form
      aria-label={t('log.filter.more')}
      className="flex max-w-full min-w-0 flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Select
        aria-label={t('log.filter.type')}
        value={search.type ?? '0'}
        onChange={(event) =>
          setSearch({ type: event.target.value === '0' ? undefined : event.target.value, page: undefined })
        }
        className="w-32! max-sm:w-auto!"
      >
        <option value="0">{t('log.type.all')}</option>
        {shownTypes.map((type) => (
          <option key={type} value={type}>
            {typeText(type, t)}
          </option>
        ))}
      </Select>
      {!classic && <OutcomeFilter search={search} setSearch={setSearch} everybody={everybody} />}
      <Segmented label={t('log.filter.range')} options={ranges} value={span} onChange={chooseRange} />
      {span === 'custom' && (
        <>
          <MomentBox
            label={t('log.filter.from')}
            value={momentOf(search.from)}
            onChange={(from) => setSearch({ from: from?.toString(), page: undefined }, { replace: true })}
          />
          <MomentBox
            label={t('log.filter.to')}
            value={momentOf(search.to)}
            onChange={(to) => setSearch({ to: to?.toString(), page: undefined }, { replace: true })}
          />
        </>
      )}
      <Button
        className="sm:hidden"
        icon={<ListFilter />}
        aria-expanded={shown}
        aria-controls={names}
        onClick={() => setShown(!shown)}
      >
        {t('log.filter.more')}
      </Button>
      {/* The filters are hidden at first on a phone, where they would fill the screen. */}
      <div id={names} className={`contents ${shown ? '' : 'max-sm:hidden'}`}>
        {fields.map(([name, label]) => (
          <NameBox
            key={name}
            of={name === 'channel' ? undefined : name}
            label={label}
            value={typed[name]}
            onChange={(value) => setTyped({ ...typed, [name]: value })}
          />
        ))}
      </div>
      <div className="flex gap-1">
        <Button type="submit" className={shown ? '' : 'max-sm:hidden'}>
          {t('log.filter.query')}
        </Button>
        {/* The button keeps its space while there is nothing to clear, so that a filter does not shift the layout. */}
        <Button
          look="quiet"
          className={`px-1.5! ${isFiltered(search) ? '' : 'invisible max-sm:hidden'}`}
          onClick={(event) => {
            // The focus must move first, because the button disappears with the filters.
            focusFirst(event.currentTarget.form)
            setSearch(noFilters)
          }}
        >
          {t('log.filter.clear')}
        </Button>
      </div>
    </form>
  )
}

const momentOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

function textsOf({ token = '', model = '', user = '', channel = '' }: LogSearch) {
  return { token, model, user, channel }
}
