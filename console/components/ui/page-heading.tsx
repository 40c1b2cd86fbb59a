import { usePageTitle } from '../../lib/page-title.ts'

/** Only the heading, for pages with their own frame. It gets the focus after a link led to the page. */
export function PageHeading({ title, className = '' }: { title: string; className?: string }) {
  usePageTitle(title)
  return (
    <h1 tabIndex={-1} className={`text-xl font-semibold tracking-[-0.01em] first-letter:uppercase ${className}`}>
      {title}
    </h1>
  )
}
