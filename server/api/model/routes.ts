import { etag } from 'hono/etag'
import { api } from '../../../contract/api/index.ts'
import type { ModelFacts, ModelFigures } from '../../../contract/api/model.ts'
import { roles } from '../../../contract/roles.ts'
import { ApiFailure } from '../../http/api-failure.ts'
import type { AppContext } from '../../http/app-env.ts'
import { type ApiRouter, serve, servePublic } from '../../http/serve-endpoint.ts'
import { type Clock, epochSeconds } from '../../lib/clock.ts'
import type { Db } from '../../store/store.ts'
import { availabilityOf } from '../../store/usage/availability.ts'
import { firstByteOf } from '../../store/usage/first-byte-steps.ts'
import { modelSpeeds } from '../../store/usage/model-speeds.ts'
import { rankUsage } from '../../store/usage/usage-query.ts'
import { cachedFor } from '../cached-for.ts'
import type { ApiDeps } from '../deps.ts'
import { uptimeOf } from '../service-state.ts'
import { mayUseGroup } from '../usable-groups.ts'
import { factsOf, factsSource } from './model-facts.ts'

const visitorsGroup = 'default'
const hourSeconds = 3600
const dayHours = 24
const figureDays = 7
const spentDays = 30
const mostModels = 1000

type SharedFigures = ReadonlyMap<string, Omit<ModelFigures, 'spent'>>

/** The catalogue of models: published facts, figures measured in this installation, and the list for visitors. */
export function mountModels(
  router: ApiRouter,
  { store, clock, settings, priceList }: Pick<ApiDeps, 'store' | 'clock' | 'settings' | 'priceList'>,
): void {
  const shared = cachedFor(() => measured(store.read, clock), clock)
  for (const { path } of [api.model.facts, api.model.visitors]) router.app.get(path, etag())

  serve(router, api.model.facts, ({ person, query, context }) => {
    const { group = person.group } = query
    if (!mayUseGroup(group, person.group, settings.current()) && person.role < roles.admin)
      throw new ApiFailure('Only admins can see the models of another group.')
    return kept(context, { ...factsSource, models: knownFacts(priceList(group).models) }, 'private')
  })

  serve(router, api.model.figures, async ({ person }) => {
    const [all, spent] = await Promise.all([shared(), ownSpending(store.read, clock, person.id)])
    const names = new Set([...priceList(person.group).models.map(({ model }) => model), ...spent.keys()])
    const models = [...names].flatMap((model) => {
      const figures = all.get(model)
      const own = spent.get(model) ?? 0
      if (!figures && own === 0) return []
      return [{ ...(figures ?? { model, first_byte: null, speed: null, uptime: null }), spent: own }]
    })
    return { models }
  })

  servePublic(router, api.model.visitors, ({ context }) => {
    if (!settings.current().PublicModelsEnabled) throw new ApiFailure('This list is not public.', 404)
    // Models that nobody can call are omitted. They are of no use to visitors, and visitors must not see which models
    // lack a price.
    const models = priceList(visitorsGroup)
      .models.filter(({ prices }) => prices.length > 0)
      .map(({ model, prices }) => ({ model, prices, unpriced: false, renamed: false }))
    return kept(context, { ...factsSource, models, facts: knownFacts(models) }, 'public')
  })
}

function knownFacts(models: readonly { model: string }[]): ModelFacts[] {
  return models.flatMap(({ model }) => factsOf(model) ?? [])
}

/** Lets browsers cache the response and revalidate it on each use. */
function kept<Data extends object>(c: AppContext, data: Data, visibility: 'private' | 'public'): Data {
  c.header('Cache-Control', `${visibility}, no-cache`)
  return data
}

/** Speed and uptime of every model in the last seven days. */
async function measured(db: Db, clock: Clock): Promise<SharedFigures> {
  const now = epochSeconds(clock)
  const to = Math.floor(now / hourSeconds) + 1
  const from = to - figureDays * dayHours
  const [speeds, slots] = await Promise.all([
    modelSpeeds(db, from * hourSeconds),
    availabilityOf(db, { days: { from, to } }),
  ])
  const speedsOf = Map.groupBy(speeds, ({ model }) => model)
  const slotsOf = Map.groupBy(slots, ({ model }) => model)
  const names = new Set([...speedsOf.keys(), ...slotsOf.keys()])
  return new Map(
    [...names].map((model) => {
      const steps = speedsOf.get(model) ?? []
      const [tokens, ms] = [sumOf(steps, 'tokens'), sumOf(steps, 'ms')]
      const counts = slotsOf.get(model) ?? []
      return [
        model,
        {
          model,
          first_byte: firstByteOf(new Map(steps.map(({ step, responses }) => [step, responses])), 0.5),
          speed: tokens > 0 && ms > 0 ? Math.round((tokens / ms) * 10_000) / 10 : null,
          uptime: uptimeOf({ calls: sumOf(counts, 'calls'), failed: sumOf(counts, 'failed') }),
        },
      ]
    }),
  )
}

function sumOf<Name extends string>(rows: readonly Record<Name, number>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0)
}

/** What a user spent on each model in the last 30 days. */
async function ownSpending(db: Db, clock: Clock, userId: number): Promise<Map<string, number>> {
  const to = Math.floor(epochSeconds(clock) / hourSeconds) + 1
  const range = { from: to - spentDays * dayHours, to }
  const { top } = await rankUsage(db, {
    filter: { userId },
    range,
    group: 'model_name',
    metric: 'quota',
    limit: mostModels,
  })
  return new Map(top.map(({ g, quota }) => [String(g), quota]))
}
