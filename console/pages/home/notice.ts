import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { statusApi } from '../../../contract/api/status.ts'
import { call } from '../../lib/call.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { toast } from '../../lib/toast.ts'

/** Shows the notice of the installation, each text once in a browser. It can be read again from the top bar. */
export function useNotice(): void {
  const { data } = useQuery({
    queryKey: ['notice'],
    queryFn: ({ signal }) => call(statusApi.notice, {}, { signal, quiet: true }),
  })
  useEffect(() => {
    if (!data || data === readStored('notice')) return
    writeStored('notice', data)
    toast.notice(data, { html: data })
  }, [data])
}
