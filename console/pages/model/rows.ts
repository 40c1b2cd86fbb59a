import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ModelFacts, ModelFigures } from '../../../contract/api/model.ts'
import type { PricedModel } from '../../../contract/api/price.ts'
import { familyOf, modelFamilies } from '../../../contract/model-families.ts'
import { factsQuery } from '../../lib/model-queries.ts'
import { figuresQuery } from './queries.ts'

/** A model with everything that is known about it. */
export interface CatalogueRow extends PricedModel {
  /** Undefined if the server's registry of models does not contain the model, or the server has no registry. */
  facts: ModelFacts | undefined
  /** Undefined for visitors, and for models that nobody has used lately. */
  figures: ModelFigures | undefined
}

const order = new Map(modelFamilies.map(({ id }, index) => [id, index]))

/**
 * Sorts models by family, with known families first, then by age, newest first, and then by name. In a family, models
 * of unknown age come last.
 */
function compare(a: CatalogueRow, b: CatalogueRow): number {
  const place = ({ model }: CatalogueRow) => order.get(familyOf(model).id) ?? order.size
  const released = ({ facts }: CatalogueRow) => facts?.released ?? ''
  const byAge = released(a) < released(b) ? 1 : released(a) > released(b) ? -1 : 0
  return place(a) - place(b) || byAge || a.model.localeCompare(b.model)
}

/**
 * The rows of a price list in the usual order. Models that cannot be called because they have no price are included
 * only for admins.
 */
export function catalogueRows(
  models: readonly PricedModel[],
  facts: readonly ModelFacts[],
  figures: readonly ModelFigures[],
  showUnpriced: boolean,
): CatalogueRow[] {
  const factsByModel = new Map(facts.map((each) => [each.model, each]))
  const figuresByModel = new Map(figures.map((each) => [each.model, each]))
  return models
    .filter(({ prices }) => showUnpriced || prices.length > 0)
    .map((row) => ({ ...row, facts: factsByModel.get(row.model), figures: figuresByModel.get(row.model) }))
    .sort(compare)
}

const none: readonly never[] = []

/** The rows for a user. Facts and figures load separately. The list neither waits for them nor requires them. */
export function useCatalogue(
  models: readonly PricedModel[],
  ask: { group: string | undefined; enabled: boolean; admin: boolean },
): CatalogueRow[] {
  const facts = useQuery({ ...factsQuery(ask.group), enabled: ask.enabled }).data?.models ?? none
  const figures = useQuery({ ...figuresQuery, enabled: ask.enabled }).data?.models ?? none
  return useMemo(() => catalogueRows(models, facts, figures, ask.admin), [models, facts, figures, ask.admin])
}
