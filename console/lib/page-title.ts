import { useEffect } from 'react'
import { currentCrumb } from './crumb.ts'
import { useObservable } from './observable.ts'
import { useServerStatus } from './status.ts'

/** Sets the window title: what the page is about, the page's title, and the name of the installation. */
export function usePageTitle(title: string): void {
  const installation = useServerStatus().system_name ?? 'Tollgate'
  const object = useObservable(currentCrumb)?.name
  useEffect(() => {
    document.title = [object, title, installation].filter((part) => part !== undefined && part !== '').join(' · ')
  }, [object, title, installation])
}
