import type { Finding } from '../../../contract/api/import.ts'
import { translated } from '../../lib/call.ts'
import { isEnglish, textByKey } from '../../lib/text.ts'

type Values = Readonly<Record<string, string>>

/**
 * A sentence from the server about an import. It is in the language of the page if it has a code, otherwise in English.
 */
export function Sentence(props: {
  text: string
  code: string | undefined
  values: Values | undefined
  reason?: Finding['reason']
}) {
  const { text, code, values, reason } = props
  const why = reason && translated(reason)
  const told =
    code === undefined || isEnglish()
      ? undefined
      : textByKey(`finding.${code}`, { ...values, ...(why !== undefined && { reason: why }) })
  return (
    <p className="break-words" data-verbatim {...(told === undefined && { lang: 'en' })}>
      {told ?? text}
    </p>
  )
}
