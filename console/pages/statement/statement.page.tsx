import { useQuery } from '@tanstack/react-query'
import { Printer } from 'lucide-react'
import { Button } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { Select } from '../../components/ui/select.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { usePageCrumb } from '../../lib/crumb.ts'
import { isAdmin, useSessionUser } from '../../lib/session.ts'
import { useClassicServer } from '../../lib/status.ts'
import { languageTag, useText } from '../../lib/text.ts'
import { wholeNumber } from '../../lib/url-state.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { Emails } from './emails.tsx'
import { statementQuery } from './queries.ts'
import { parseStatementSearch } from './search.ts'
import { StatementView } from './statement-view.tsx'

const shownMonths = 24
/** The month in a URL; undefined if the text is not a month. */
const monthOf = (text: string | undefined) => (/^\d{4}-(?:0[1-9]|1[0-2])$/.test(text ?? '') ? text : undefined)
const monthText = (at: Date) => `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}`

/** The current month and the months before it, latest first, including the chosen month if it is older. */
function monthsOf(chosen: string): string[] {
  const now = new Date()
  const months = Array.from({ length: shownMonths }, (_, back) =>
    monthText(new Date(now.getFullYear(), now.getMonth() - back, 1)),
  )
  return months.includes(chosen) ? months : [...months, chosen]
}

/** A month by name, such as October 2026. */
function nameOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Intl.DateTimeFormat(languageTag(), { year: 'numeric', month: 'long' }).format(
    new Date(year, number - 1, 1),
  )
}

/** `/statement`: an account's balance, credits and spending in a month, for screen and print. */
export function StatementPage() {
  const t = useText()
  usePageCrumb(t('statement.title'), '/usage')
  const [search, setSearch] = useUrlState(parseStatementSearch)
  const classic = useClassicServer()
  const now = new Date()
  const month = monthOf(search.month) ?? monthText(new Date(now.getFullYear(), now.getMonth() - 1, 1))
  const user = isAdmin(useSessionUser()) ? wholeNumber(search.user, 1) : undefined
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    ...statementQuery(month, user),
    enabled: !classic,
  })
  const actions = (
    <div className="flex flex-wrap items-center gap-3 print:hidden">
      <label className="flex max-w-full flex-wrap items-center gap-2 text-sm text-muted">
        {t('statement.month')}
        <Select
          value={month}
          onChange={(event) => setSearch({ month: event.target.value }, { replace: true })}
          className="w-auto! max-w-full"
        >
          {monthsOf(month).map((each) => (
            <option key={each} value={each}>
              {nameOf(each)}
            </option>
          ))}
        </Select>
      </label>
      <Button icon={<Printer />} disabled={!data} onClick={() => window.print()}>
        {t('statement.print')}
      </Button>
    </div>
  )
  return (
    <Page title={t('statement.title')} width="narrow" actions={classic ? undefined : actions}>
      {classic ? (
        <Card>
          <EmptyState title={t('statement.classic')} />
        </Card>
      ) : error ? (
        <ErrorState
          title={t('statement.error')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      ) : !data ? (
        <RowsSkeleton className="h-[30rem]" />
      ) : (
        <div aria-busy={isPlaceholderData} className={isPlaceholderData ? 'opacity-60' : ''}>
          <StatementView statement={data} month={nameOf(data.month)} />
          <Emails />
        </div>
      )}
    </Page>
  )
}
