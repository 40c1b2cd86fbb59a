import { usePageTitle } from '../../lib/page-title.ts'

/** The heading of a page that does not use `Page`. It gets the focus after a link has opened the page. */
export function PageHeading({ title, className = '' }: { title: string; className?: string }) {
  usePageTitle(title)
  return (
    <h1 tabIndex={-1} className={`text-xl font-semibold tracking-[-0.01em] first-letter:uppercase ${className}`}>
      {title}
    </h1>
  )
}
