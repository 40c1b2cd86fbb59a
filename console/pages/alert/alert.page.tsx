import { Plus } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { AlertRule } from '../../../contract/api/alert.ts'
import { Button } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { EmptyState } from '../../components/ui/states.tsx'
import { Tabs } from '../../components/ui/tabs.tsx'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { Destinations } from './destinations.tsx'
import { History } from './history.tsx'
import type { AlertScope } from './queries.ts'
import { Rules } from './rules.tsx'
import { type AlertTab, alertTabs, parseAlertSearch } from './search.ts'

const RuleEditor = lazy(async () => {
  const [{ RuleEditor }] = await Promise.all([import('./rule-editor.tsx'), loadAreas(['form'])])
  return { default: RuleEditor }
})

/** A rule that is being edited, or the beginning of a new one. */
export type RuleDraft = Partial<AlertRule> & Pick<AlertRule, 'kind' | 'name'>

/** `/alert`: rules about the own account and, for administrators, about the installation. */
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
      <History
        scope={scope}
        page={search.page ?? 1}
        onPage={(page) => setSearch({ page: page > 1 ? page : undefined })}
      />
    ),
  }
  const actions = (
    <>
      {admin && (
        <Segmented
          label={t('alert.scope')}
          value={scope}
          onChange={(next) => setSearch({ scope: next === 'own' ? 'own' : undefined, page: undefined })}
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
        <Tabs<AlertTab>
          label={t('alert.tabs')}
          value={tab}
          onChange={(next) => setSearch({ tab: next === 'rules' ? undefined : next, page: undefined })}
          tabs={alertTabs.map((id) => ({ id, label: t(`alert.tab.${id}`), content: contents[id] }))}
        />
      )}
      <Suspense fallback={null}>
        {draft && <RuleEditor scope={scope} draft={draft} onClose={() => setDraft(undefined)} />}
      </Suspense>
    </Page>
  )
}
