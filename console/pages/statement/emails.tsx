import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { StatementEmails } from '../../../contract/api/statement.ts'
import { statementApi } from '../../../contract/api/statement.ts'
import { Card } from '../../components/ui/page.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { SwitchRow } from '../../components/ui/switch-row.tsx'
import { call } from '../../lib/call.ts'
import { formatCount } from '../../lib/format.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useText } from '../../lib/text.ts'
import { emailsQuery } from './queries.ts'

/**
 * The switch for statements by email. Administrators also see how many were sent. Renders nothing if the server does
 * not send statements.
 */
export function Emails() {
  const { data } = useQuery(emailsQuery)
  return data?.offered ? <EmailsCard emails={data} /> : null
}

function EmailsCard({ emails }: { emails: StatementEmails }) {
  const t = useText()
  /** The value being saved. The switch shows it and stays usable, so that it keeps the focus. */
  const [saving, setSaving] = useState<boolean>()
  const { wanted, has_address, month, counts } = emails
  const change = async (next: boolean) => {
    if (saving !== undefined) return
    setSaving(next)
    try {
      const saved = await call(statementApi.setStatementEmails, { body: { wanted: next } })
      queryClient.setQueryData(emailsQuery.queryKey, saved)
    } catch {
      // The call has already shown the error.
    }
    setSaving(undefined)
  }
  return (
    <div className="pt-4 print:hidden">
      <Card>
        <SwitchRow
          label={t('statement.email')}
          hint={t(has_address ? 'statement.email.hint' : 'statement.email.noAddress')}
        >
          {(ids) => (
            <Switch
              {...ids}
              checked={saving ?? wanted}
              aria-busy={saving !== undefined || undefined}
              onChange={(event) => void change(event.target.checked)}
            />
          )}
        </SwitchRow>
        {counts && (
          <p className="pt-3 text-sm text-muted">
            {t('statement.email.counts', {
              month,
              sent: formatCount(counts.sent),
              waiting: formatCount(counts.waiting),
              refused: formatCount(counts.refused),
            })}
          </p>
        )}
      </Card>
    </div>
  )
}
