import { useQuery } from '@tanstack/react-query'
import { useId, useMemo, useState } from 'react'
import { Input } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { Select } from '../../components/ui/select.tsx'
import { useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { CallDetails, type ChosenToken } from './call-details.tsx'
import { type ApiDocument, type Call, callsOf, isFound, isRelay } from './document.ts'
import { ownTokensQuery } from './queries.ts'
import { parseReferenceSearch } from './search.ts'

/** The list of operations, and the chosen one. */
export function ReferenceView({ document }: { document: ApiDocument }) {
  const t = useText()
  const [{ call, q = '', part }, setSearch] = useUrlState(parseReferenceSearch)
  const all = useMemo(() => callsOf(document), [document])
  const chosen = all.find(({ operation }) => operation.operationId === call)
  const isManagement = chosen ? !isRelay(chosen) : part === 'management'
  const found = all.filter((each) => isRelay(each) !== isManagement && (q === '' || isFound(each, q)))
  const shown = chosen ?? found[0] ?? all[0]
  const [token, setToken] = useState<ChosenToken>()
  return (
    <div className="grid gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-3 lg:sticky lg:top-18 lg:max-h-[calc(100dvh-6rem)] lg:self-start">
        <div className="shrink-0">
          <Segmented
            label={t('reference.part')}
            options={[
              { value: 'relay', label: t('reference.part.relay') },
              { value: 'management', label: t('reference.part.management') },
            ]}
            value={isManagement ? 'management' : 'relay'}
            onChange={(value) => setSearch({ part: value === 'relay' ? undefined : value, call: undefined })}
          />
        </div>
        <Input
          type="search"
          className="shrink-0"
          aria-label={t('reference.search')}
          placeholder={t('reference.search')}
          value={q}
          onChange={(event) => setSearch({ q: event.target.value || undefined }, { replace: true })}
        />
        <p role="status" className={found.length === 0 ? 'text-sm text-muted' : 'sr-only'}>
          {t('reference.found', { count: found.length })}
        </p>
        <CallList
          calls={found}
          current={shown}
          onChoose={(operationId) => setSearch({ call: operationId, part: isManagement ? 'management' : undefined })}
        />
        <TokenChoice value={token} onChange={setToken} />
      </div>
      {shown && <CallDetails key={shown.operation.operationId} call={shown} document={document} token={token} />}
    </div>
  )
}

interface CallListProps {
  calls: readonly Call[]
  current: Call | undefined
  onChoose(operationId: string): void
}

/** The operations by tag. The text of the document is English in every language of the console. */
function CallList({ calls, current, onChoose }: CallListProps) {
  const t = useText()
  const tags = [...new Set(calls.map(({ tag }) => tag))]
  return (
    <nav
      aria-label={t('reference.list')}
      className="min-h-0 overflow-y-auto rounded-lg border border-line bg-surface p-1.5 max-lg:max-h-64"
    >
      {tags.map((tag) => (
        <div key={tag} lang="en" data-verbatim>
          <h2 className="px-2 pt-2 pb-1 text-xs font-medium text-muted">{tag}</h2>
          <ul>
            {calls
              .filter((each) => each.tag === tag)
              .map(({ method, path, operation: { operationId, summary } }) => (
                <li key={operationId}>
                  <button
                    type="button"
                    aria-current={current?.operation.operationId === operationId ? 'true' : undefined}
                    onClick={() => onChoose(operationId)}
                    className="block w-full rounded-md px-2 py-1 text-left hover:bg-active aria-[current]:bg-active max-sm:py-2"
                  >
                    <span className="block truncate text-sm text-fg">{summary}</span>
                    <span className="block truncate font-mono text-xs text-muted">
                      {method} {path}
                    </span>
                  </button>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** The token that the samples contain; visitors have none. */
function TokenChoice(props: { value: ChosenToken | undefined; onChange(token: ChosenToken | undefined): void }) {
  const { value, onChange } = props
  const t = useText()
  const id = useId()
  const user = useSessionUser()
  const { data = [] } = useQuery({ ...ownTokensQuery, enabled: user !== undefined })
  if (!user) return null
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {t('reference.token')}
      </label>
      <Select
        id={id}
        value={value?.id ?? ''}
        onChange={(event) => {
          const token = data.find((each) => String(each.id) === event.target.value)
          onChange(token && { id: token.id, key: keyOf(token), masked: maskedKey(token) })
        }}
      >
        <option value="">{t('reference.token.none')}</option>
        {data.map((token) => (
          <option key={token.id} value={token.id} data-verbatim>
            {token.name || token.id}
          </option>
        ))}
      </Select>
    </div>
  )
}
