import { useEffect, useState } from 'react'
import { NameBox } from '../../components/data-table/name-box.tsx'
import { useText } from '../../lib/text.ts'

interface RequestBoxProps {
  request: string | undefined
  onFind(request: string): void
}

/** Finds the row of a request by the request id of its response; Enter opens it. */
export function RequestBox({ request = '', onFind }: RequestBoxProps) {
  const t = useText()
  const [typed, setTyped] = useState(request)
  // When the drawer is closed, the typed text stays, so that the user can correct a typo.
  useEffect(() => {
    if (request !== '') setTyped(request)
  }, [request])
  return (
    <form
      aria-label={t('log.request.find')}
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() !== '') onFind(typed.trim())
      }}
    >
      <NameBox label={t('log.peek.request')} value={typed} onChange={setTyped} wide />
    </form>
  )
}
