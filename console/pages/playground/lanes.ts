import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { ModelFacts } from '../../../contract/api/model.ts'
import { factsQuery } from '../../lib/model-queries.ts'
import { severalOf, severalText } from '../../lib/several.ts'
import { useServerStatus } from '../../lib/status.ts'
import type { Lane } from './conversation.ts'
import { areValid, emptySettings, parametersOf, type Settings } from './parameters.ts'
import type { PlaygroundSearch } from './search.ts'

/** The maximum number of models that answer side by side. */
export const mostModels = 4

/** The models side by side and their settings. */
export interface Lanes {
  models: readonly string[]
  settings: readonly Settings[]
  /** Each model with the parameters that are sent to it. */
  lanes: readonly Lane[]
  areValid: boolean
  setModel(lane: number, model: string): void
  setSettings(lane: number, settings: Settings): void
  /** Copies the settings of one model to all models. */
  copyToAll(lane: number): void
  add(model: string): void
  remove(lane: number): void
  /** Replaces all models and their settings. */
  show(models: readonly string[], settings: readonly Settings[]): void
}

/** Published facts by model; empty on servers without facts. */
export function useFacts(): ReadonlyMap<string, ModelFacts> {
  const { public_models: known } = useServerStatus()
  // Facts are requested only from servers that have the catalogue. These servers report whether it is public.
  const { data } = useQuery({ ...factsQuery(undefined), enabled: known !== undefined })
  return useMemo(() => new Map(data?.models.map((each) => [each.model, each])), [data])
}

/** The URL contains the models but not the settings, because a system prompt can be long and private. */
export function useLanes(
  first: string | undefined,
  search: PlaygroundSearch,
  setSearch: (patch: Partial<PlaygroundSearch>) => void,
  { facts, first: firstSettings }: { facts: ReadonlyMap<string, ModelFacts>; first: Settings | undefined },
): Lanes {
  const [stored, setStored] = useState<readonly Settings[]>(firstSettings ? [firstSettings] : [])
  const models = first === undefined ? [] : [first, ...severalOf(search.compare)].slice(0, mostModels)
  // A model that the user has just added starts with the settings of the first one.
  const settings = models.map((_, lane) => stored[lane] ?? stored[0] ?? emptySettings)
  const lanes = models.map((model, lane) => {
    const parameters = parametersOf(settings[lane] ?? emptySettings)
    return { model, parameters: facts.get(model)?.reasoning ? parameters : { ...parameters, effort: undefined } }
  })
  const show: Lanes['show'] = ([model, ...others], next) => {
    setStored(next)
    setSearch({ model, compare: severalText(others) })
  }
  return {
    models,
    settings,
    lanes,
    areValid: settings.every(areValid),
    setModel: (lane, model) =>
      show(
        models.map((each, index) => (index === lane ? model : each)),
        settings,
      ),
    // Until the models have loaded, the parameter boxes edit the settings of the first model.
    setSettings: (lane, next) =>
      setStored(models.length === 0 ? [next] : settings.map((each, index) => (index === lane ? next : each))),
    copyToAll: (lane) => setStored(settings.map(() => settings[lane] ?? emptySettings)),
    add: (model) => {
      if (models.length < mostModels) show([...models, model], settings)
    },
    remove: (lane) =>
      show(
        models.filter((_, index) => index !== lane),
        settings.filter((_, index) => index !== lane),
      ),
    show,
  }
}
