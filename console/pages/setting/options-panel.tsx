import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { SearchBox } from '../../components/data-table/search-box.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Card } from '../../components/ui/page.tsx'
import { EmptyState, ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { differsFromDefault, type Option } from './drafts.ts'
import { isFound, sectionName } from './option-names.ts'
import { OptionRow } from './option-row.tsx'
import { parseSettingSearch, type SettingTab } from './search.ts'
import { SectionExtra } from './section-extra.tsx'
import type { OptionForm } from './use-option-form.ts'

const tabOf: Readonly<Record<Option['tab'], SettingTab>> = { operations: 'operation', system: 'system', other: 'other' }

/** Sections that come first on their tabs, in this order; other sections keep the server's order. */
const firstSections = ['general', 'monitoring', 'quota', 'ratios', 'logs', 'address', 'login', 'mail', 'pages']

function placeOf(section: string): number {
  const place = firstSections.indexOf(section)
  return place < 0 ? firstSections.length : place
}

/** The options of one tab in their sections. During a search, the options of all tabs are shown. */
export function OptionsPanel({ tab, form }: { tab: SettingTab; form: OptionForm }) {
  const t = useText()
  const { options } = form
  const [search, setSearch] = useUrlState(parseSettingSearch)
  const words = search.q ?? ''
  useShownAnchor(form.state === 'ready')
  if (form.state === 'loading') return <Loading />
  if (form.state === 'failed') {
    return <ErrorState title={t('setting.failed')} text={form.error?.message} onRetry={form.retry} busy={form.asking} />
  }
  const found = options.filter((option) => (words === '' ? tabOf[option.tab] === tab : isFound(option, words)))
  const changed = found.filter(differsFromDefault)
  const isChangedOnly = search.changed !== undefined
  const shown = isChangedOnly ? changed : found
  const sections = [...new Set(shown.map((option) => option.section))].sort((a, b) => placeOf(a) - placeOf(b))
  const optionsOf = (section: string) => shown.filter((option) => option.section === section)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-4 lg:grid-cols-[11rem_minmax(0,1fr)]">
      <div className="lg:sticky lg:top-18 lg:self-start">
        <SearchBox
          value={words}
          label={t('setting.search')}
          onSearch={(q) => setSearch({ q: q === '' ? undefined : q }, { replace: true })}
        />
        <label className="mt-3 flex items-center gap-2 text-sm">
          <Checkbox
            checked={isChangedOnly}
            onChange={({ target }) => setSearch({ changed: target.checked ? '1' : undefined }, { replace: true })}
          />
          {t('setting.changedOnly', { count: changed.length })}
        </label>
        <SectionLinks sections={sections.map((id) => ({ id, options: optionsOf(id) }))} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        {words !== '' && (
          <p role="status" className="text-sm text-muted">
            {t('setting.search.found', { count: shown.length })}
          </p>
        )}
        {sections.length === 0 && (
          <EmptyState title={t(found.length === 0 ? 'setting.search.none' : 'setting.changedOnly.none')} />
        )}
        {sections.map((id) => (
          <Section key={id} id={id} options={optionsOf(id)} form={form} whole={words === '' && !isChangedOnly} />
        ))}
      </div>
    </div>
  )
}

function SectionLinks({ sections }: { sections: readonly { id: string; options: readonly Option[] }[] }) {
  const t = useText()
  return (
    <nav aria-label={t('setting.sections')} className="mt-3 max-lg:hidden">
      <ul className="flex flex-col border-l border-line text-sm">
        {sections.map(({ id, options: [first] }) => (
          <li key={id}>
            <Link
              to="."
              search={(before) => before}
              hash={id}
              className="-ml-px block border-l border-transparent py-1 pl-3 text-muted hover:border-accent hover:text-fg"
            >
              {first && sectionName(first)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface SectionProps {
  id: string
  options: readonly Option[]
  form: OptionForm
  /** False if only some options are shown; the section's other content is then hidden. */
  whole: boolean
}

function Section({ id, options, form, whole }: SectionProps) {
  const t = useText()
  const [first] = options
  if (!first) return null
  const changed = form.changed.filter((option) => option.section === id).map(({ key }) => key)
  return (
    <div id={id} className="scroll-mt-18">
      <Card title={sectionName(first)}>
        <div className="-my-4 divide-y divide-line">
          {whole && <SectionExtra section={id} form={form} />}
          {options.map((option) => (
            <OptionRow key={option.key} option={option} form={form} inEditor={whole} />
          ))}
          {changed.length > 0 && (
            <div className="flex justify-end py-4">
              <Button busy={form.busy} onClick={() => void form.save(changed)}>
                {t('setting.section.save', { section: sectionName(first) })}
              </Button>
            </div>
          )}
        </div>
      </Card>
    </div>
  )
}

function Loading(): ReactNode {
  const t = useText()
  return (
    <div role="status" className="flex flex-col gap-4 lg:ml-52">
      <span className="sr-only">{t('app.loading', { page: t('setting.title') })}</span>
      <FieldsSkeleton className="h-80" />
      <FieldsSkeleton className="h-80" />
    </div>
  )
}

/** Scrolls to the anchor in the URL once the options have loaded, because they load after the page. */
function useShownAnchor(ready: boolean): void {
  useEffect(() => {
    if (!ready || location.hash.length < 2) return
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()
  }, [ready])
}
