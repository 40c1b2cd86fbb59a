import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { EmptyState, RowsSkeleton } from '../../components/ui/states.tsx'
import { lazy } from '../../lib/lazy.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import type { AlertScope } from './queries.ts'
import type { RuleDraft } from './rule-values.ts'
import { Rules } from './rules.tsx'
import { type AlertTab, alertTabs, parseAlertSearch } from './search.ts'

const Destinations = lazy(() => import('./destinations.tsx').then((it) => ({ default: it.Destinations })))
const History = lazy(() => import('./history.tsx').then((it) => ({ default: it.History })))
const RuleEditor = lazy(async () => {
  const [{ RuleEditor }] = await Promise.all([import('./rule-editor.tsx'), loadAreas(['form'])])
  return { default: RuleEditor }
})

/** `/alert`: the user's own alert rules and, for administrators, those of the installation. */
export function AlertPage() {
  const t = useText()
  const classic = useClassicServer()
  const admin = isAdmin(useSessionUser())
  const [search, setSearch] = useUrlState(parseAlertSearch)
  const [draft, setDraft] = useState<RuleDraft>()
  const scope: AlertScope = admin && search.scope !== 'own' ? 'installation' : 'own'
  const tab = search.tab ?? 'rules'
  const create = () => {
    const kind = scope === 'own' ? 'own_balance' : 'error_rate'
    setDraft({ kind, name: t(`alert.kind.${kind}`) })
  }
  const contents = {
    rules: <Rules scope={scope} onEdit={setDraft} />,
    destinations: <Destinations key={scope} scope={scope} />,
    history: (
      <History scope={scope} page={search.at ?? 1} onPage={(page) => setSearch({ at: page > 1 ? page : undefined })} />
    ),
  }
  const actions = (
    <>
      {admin && (
        <Segmented
          label={t('alert.scope')}
          value={scope}
          onChange={(next) => setSearch({ scope: next === 'own' ? 'own' : undefined, at: undefined })}
          options={(['installation', 'own'] as const).map((value) => ({ value, label: t(`alert.scope.${value}`) }))}
        />
      )}
      <Button look="primary" icon={<Plus />} onClick={create}>
        {t('alert.rule.new')}
      </Button>
    </>
  )
  return (
    <Page title={t('alert.title')} text={t('alert.intro')} actions={classic ? undefined : actions}>
      {classic ? (
        <Card>
          <EmptyState title={t('alert.classic')} />
        </Card>
      ) : (
        <>
          <Sections current={tab} own={admin && scope === 'own'} />
          <Suspense fallback={<RowsSkeleton className="h-72" />}>{contents[tab]}</Suspense>
        </>
      )}
      <Suspense fallback={null}>
        {draft && <RuleEditor scope={scope} draft={draft} onClose={() => setDraft(undefined)} />}
      </Suspense>
    </Page>
  )
}

/** Links to the parts of the page. */
function Sections({ current, own }: { current: AlertTab; own: boolean }) {
  const t = useText()
  return (
    <nav aria-label={t('alert.tabs')} className="mb-4 flex gap-1 overflow-x-auto border-b border-line text-sm">
      {alertTabs.map((id) => (
        <Link
          key={id}
          to="/alert"
          search={{ tab: id === 'rules' ? undefined : id, scope: own ? 'own' : undefined } as never}
          resetScroll={false}
          activeProps={{ 'aria-current': undefined }}
          aria-current={id === current ? 'page' : undefined}
          className={`flex h-9 shrink-0 items-center border-b-2 px-3 font-medium hover:text-fg focus-visible:-outline-offset-2 ${id === current ? 'border-accent text-fg' : 'border-transparent text-muted'}`}
        >
          {t(`alert.tab.${id}`)}
        </Link>
      ))}
    </nav>
  )
}
