import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { noticeQuery } from '../../lib/notice.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { toast } from '../../lib/toast.ts'

/** Shows the installation's notice. Each text is shown once per browser; the top bar can show it again. */
export function useNotice(): void {
  const { data } = useQuery(noticeQuery)
  useEffect(() => {
    if (!data || data === readStored('notice')) return
    writeStored('notice', data)
    toast.notice(data, { html: data })
  }, [data])
}
