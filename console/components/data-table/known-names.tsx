import { useQuery } from '@tanstack/react-query'
import { readUsage } from '../../lib/read-usage.ts'

/** The kind of names to suggest. The usage endpoint accepts the same words for grouping. */
export type NamesOf = 'token' | 'model' | 'user'

const daySeconds = 86_400
const days = 30
/** The number of suggested names. Any other name can be typed. */
const top = 50

/** Suggests names that had calls in the last 30 days, in the input whose `list` attribute is this id. */
export function KnownNames({ id, of }: { id: string; of: NamesOf }) {
  const { data } = useQuery({
    queryKey: ['usage', 'names', of],
    queryFn: ({ signal }) => {
      const start_timestamp = Math.floor(Date.now() / 1000) - days * daySeconds
      return readUsage({ metric: 'requests', group_by: of, rollup: 'month', start_timestamp, top }, signal)
    },
    staleTime: 60_000,
  })
  return (
    <datalist id={id}>{data?.groups.map(({ key, name }) => name !== '' && <option key={key} value={name} />)}</datalist>
  )
}
