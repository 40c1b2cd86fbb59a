import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { pricesQuery, weekQuery } from './queries.ts'
import { type ModelRatios, modelRows, type RatioKey, type Ratios, readRatios, writeRatios } from './ratio-draft.ts'
import type { OptionForm } from './use-option-form.ts'

const none: Ratios = {}

/** The state of the ratio editor. */
export type RatioState = ReturnType<typeof useRatios>

/** Reads the ratio options as tables, and the prices and calls that the server reports. */
export function useRatios(form: OptionForm) {
  const { data: known } = useQuery(pricesQuery)
  const { data: week, isError: weekFailed } = useQuery(weekQuery)
  // An empty price list counts as no price list.
  const prices = known && known.length > 0 ? known : undefined
  const [model, completion, group] = [form.find('ModelRatio'), form.find('CompletionRatio'), form.find('GroupRatio')]
  const texts = [model, completion, group].map((option) => (option ? form.shown(option) : '{}'))
  const [modelText = '', completionText = '', groupText = ''] = texts
  const ratios = useMemo(() => {
    const [ModelRatio, CompletionRatio, GroupRatio] = [modelText, completionText, groupText].map(readRatios)
    return ModelRatio && CompletionRatio && GroupRatio ? { ModelRatio, CompletionRatio, GroupRatio } : undefined
  }, [modelText, completionText, groupText])
  const stored = useMemo(
    (): ModelRatios => ({
      prompt: readRatios(model?.value ?? '') ?? none,
      completion: readRatios(completion?.value ?? '') ?? none,
    }),
    [model?.value, completion?.value],
  )
  const rows = useMemo(() => {
    if (!ratios) return []
    const calls = week && new Map(week.groups.map(({ key, total }) => [key, total.requests]))
    return modelRows({ prompt: ratios.ModelRatio, completion: ratios.CompletionRatio }, prices ?? [], calls)
  }, [ratios, prices, week])
  return {
    rows,
    ratios,
    stored,
    prices,
    week,
    weekFailed,
    mayWrite: model !== undefined && form.mayWrite(model),
    change: (key: RatioKey, next: Ratios) => form.type(key, writeRatios(next)),
  }
}
