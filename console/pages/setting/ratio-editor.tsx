import { useId, useState } from 'react'
import { Banner } from '../../components/ui/banner.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useText } from '../../lib/text.ts'
import { CostPreview } from './cost-preview.tsx'
import { GroupTable } from './group-table.tsx'
import { ModelTable } from './model-table.tsx'
import { OptionRow } from './option-row.tsx'
import { ratioKeys } from './ratio-draft.ts'
import { RatioFiles } from './ratio-files.tsx'
import type { OptionForm } from './use-option-form.ts'
import { useRatios } from './use-ratios.ts'

const views = ['models', 'groups', 'raw'] as const
type View = (typeof views)[number]

/** The ratios of models and groups, shown as tables or as the stored JSON. */
export function RatioEditor({ form }: { form: OptionForm }) {
  const t = useText()
  const state = useRatios(form)
  const [view, setView] = useState<View>('models')
  const { ratios } = state
  const problems = ratioKeys.flatMap((key) => form.problems[key] ?? [])
  const problemsId = useId()
  const table = { state, problemsId: problems.length > 0 ? problemsId : undefined }
  return (
    <div className="flex flex-col gap-3 py-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segmented<View>
          label={t('ratio.view')}
          value={view}
          onChange={setView}
          options={views.map((value) => ({ value, label: t(`ratio.${value}`) }))}
        />
        <RatioFiles state={state} />
      </div>
      {view === 'raw' ? (
        <div className="divide-y divide-line">
          {ratioKeys.map((key) => {
            const option = form.find(key)
            return option && <OptionRow key={key} option={option} form={form} inEditor={false} />
          })}
        </div>
      ) : (
        <>
          {ratioKeys.map((key) => (
            <span key={key} id={key} className="absolute scroll-mt-24" />
          ))}
          {!state.mayWrite && <Banner kind="info">{t('setting.locked')}</Banner>}
          {problems.length > 0 && (
            <div id={problemsId} className="flex flex-col gap-3">
              {problems.map((problem) => (
                <Banner key={problem} kind="bad">
                  {problem}
                </Banner>
              ))}
            </div>
          )}
          {!ratios && <Banner kind="warn">{t('ratio.broken')}</Banner>}
          {ratios && (view === 'models' ? <ModelTable {...table} /> : <GroupTable {...table} ratios={ratios} />)}
        </>
      )}
      {ratios && <CostPreview state={state} ratios={ratios} />}
    </div>
  )
}
