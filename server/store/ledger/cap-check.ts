import { sql } from 'kysely'
import type { CapMetric } from '../../../contract/caps.ts'
import { logType } from '../../../contract/log-types.ts'
import type { Store } from '../store.ts'

interface Figures {
  kind: 'cap' | 'counts' | 'places' | 'rows'
  id: number
  metric: CapMetric
  pattern: string | null
  model: string
  one: number
  two: number
  three: number
  four: number
}

/**
 * Checks the count of each cap. The count must be the sum of three figures: the usage in the log rows since the cap was
 * created, counted usage that has no log row, and the reservations of open calls. The check is a single statement,
 * which sees one snapshot and reads every log row at most once.
 */
export async function capFaults({ read }: Pick<Store, 'read'>): Promise<{ id: number; text: string }[]> {
  const { rows } = await sql<Figures>`
    select 'cap' as kind, id, metric, pattern, '' as model, forgotten as one, unlogged as two, 0 as three, 0 as four from caps
    union all
    select 'counts', cap_id, '', null, '', cast(sum(used) as bigint), 0, 0, 0 from cap_counts group by cap_id
    union all
    select 'places', cap_id, '', null, '', cast(sum(reserved) as bigint), 0, 0, 0 from cap_places group by cap_id
    union all
    select 'rows', c.id, '', null, l.model_name, count(*), cast(sum(l.prompt_tokens + l.completion_tokens) as bigint),
      cast(sum(l.quota) as bigint), cast(sum(coalesce(l.cost, l.quota)) as bigint)
    from logs l join caps c on c.owner_id = l.channel_id and l.id > c.first_log
    where l.type = ${logType.consume} and l.id > (select min(first_log) from caps)
    group by c.id, l.model_name`.execute(read)
  const byCap = Map.groupBy(rows, ({ id }) => Number(id))
  return [...byCap].flatMap(([id, ofCap]) => {
    const cap = ofCap.find(({ kind }) => kind === 'cap')
    if (!cap) return [{ id, text: 'the cap is gone, but not what it counted' }]
    const sum = (kind: Figures['kind']) =>
      ofCap.filter((row) => row.kind === kind).reduce((total, row) => total + Number(row.one), 0)
    const counted = sum('counts') + Number(cap.one)
    const logged = ofCap.filter((row) => row.kind === 'rows').reduce((total, row) => total + loggedIn(cap, row), 0)
    const said = logged + Number(cap.two) + sum('places')
    if (counted === said) return []
    const parts = `the log rows say ${logged}, ${Number(cap.two)} have no row, open calls reserve ${sum('places')}`
    return [{ id, text: `counted ${counted} ${cap.metric}, but ${parts}` }]
  })
}

/**
 * The amount that the log rows of a model add to a cap's count. It is 0 for caps of concurrent calls, which count only
 * open calls.
 */
function loggedIn({ metric, pattern }: Figures, row: Figures): number {
  if (metric === 'calls' || (pattern !== null && !new RegExp(pattern).test(row.model))) return 0
  if (metric === 'requests') return Number(row.one)
  return Number(metric === 'tokens' ? row.two : metric === 'cost' ? row.four : row.three)
}
