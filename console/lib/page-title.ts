import { useEffect } from 'react'
import { useServerStatus } from './status.ts'

/** Sets the window title, which is the page's title followed by the name of the installation. */
export function usePageTitle(title: string): void {
  const name = useServerStatus().system_name ?? 'Tollgate'
  useEffect(() => {
    document.title = title === '' ? name : `${title} · ${name}`
  }, [title, name])
}
