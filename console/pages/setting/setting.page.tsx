import { useBlocker } from '@tanstack/react-router'
import { Suspense, useRef } from 'react'
import { Page } from '../../components/ui/page.tsx'
import { FieldsSkeleton } from '../../components/ui/states.tsx'
import { Tabs } from '../../components/ui/tabs.tsx'
import { lazy } from '../../lib/lazy.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { PersonalPanel } from './personal.tsx'
import { parseSettingSearch, type SettingTab, settingTabs } from './search.ts'
import { type OptionForm, useOptionForm } from './use-option-form.ts'

const OptionsPanel = lazy(async () => {
  const [{ OptionsPanel }] = await Promise.all([import('./options-panel.tsx'), loadAreas(['option', 'table'])])
  return { default: OptionsPanel }
})
const SaveBar = lazy(() => import('./save-bar.tsx').then((it) => ({ default: it.SaveBar })))
const AuditPanel = lazy(async () => {
  const [{ AuditPanel }] = await Promise.all([import('./audit.tsx'), loadAreas(['audit', 'option', 'table'])])
  return { default: AuditPanel }
})
const ConfirmDialog = lazy(() =>
  import('../../components/ui/confirm-dialog.tsx').then((it) => ({ default: it.ConfirmDialog })),
)

/** `/setting`: the user's own account. For administrators, also the options of the installation and the audit log. */
export function SettingPage() {
  const t = useText()
  const admin = isAdmin(useSessionUser())
  const classic = useClassicServer()
  const [search, setSearch] = useUrlState(parseSettingSearch)
  const offered = settingTabs.filter((tab) => tab === 'personal' || (admin && !(classic && tab === 'audit')))
  const tab = offered.find((each) => each === search.tab) ?? 'personal'
  const form = useOptionForm(admin && tab !== 'personal' && tab !== 'audit')
  const content = (of: SettingTab) => {
    if (of === 'personal') return <PersonalPanel />
    return (
      <Suspense fallback={<FieldsSkeleton className="h-96" />}>
        {of === 'audit' ? <AuditPanel /> : <OptionsPanel key={of} tab={of} form={form} />}
      </Suspense>
    )
  }
  return (
    <Page title={t('setting.title')} width={tab === 'audit' ? 'full' : 'normal'}>
      <Tabs
        label={t('setting.tabs')}
        value={tab}
        onChange={(next) => setSearch(addressOf(next))}
        tabs={offered.map((id) => ({ id, label: t(`setting.tab.${id}`), content: content(id) }))}
      />
      <Suspense fallback={null}>{form.changed.length > 0 && <SaveBar form={form} />}</Suspense>
      <LeaveGuard form={form} />
    </Page>
  )
}

/** The query values of the link to a tab, without the state of other tabs. */
function addressOf(tab: SettingTab) {
  const none = { q: undefined, page: undefined, sort: undefined, peek: undefined }
  const noFilter = { changed: undefined, actor: undefined, action: undefined, from: undefined, to: undefined }
  return { tab: tab === 'personal' ? undefined : tab, ...none, ...noFilter }
}

/** Asks for confirmation before the user leaves the page with unsaved changes. */
function LeaveGuard({ form }: { form: OptionForm }) {
  const t = useText()
  const dirty = form.changed.length > 0 && !form.busy
  const leaves = useRef(false)
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && current.pathname !== next.pathname && next.pathname !== '/login',
    enableBeforeUnload: () => dirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Suspense fallback={null}>
      <ConfirmDialog
        open
        title={t('form.leave.title')}
        text={t('form.leave.text')}
        confirm={t('form.leave.go')}
        danger
        onClose={() => {
          if (!leaves.current) blocker.reset()
        }}
        onConfirm={() => {
          leaves.current = true
          blocker.proceed()
          return undefined
        }}
      />
    </Suspense>
  )
}
