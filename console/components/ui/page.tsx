import type { ReactNode } from 'react'
import { PageHeading } from './page-heading.tsx'

interface PageProps {
  /** The main heading of the page, and the title of the window. */
  title: string
  /** Shown beside the heading. */
  actions?: ReactNode
  /** Shown under the heading. */
  text?: ReactNode
  /** `full` is for lists, `normal` is up to 1280 px wide, `narrow` is for forms. */
  width?: 'full' | 'normal' | 'narrow'
  children: ReactNode
}

const widths = { full: 'max-w-none', normal: 'max-w-[1280px]', narrow: 'max-w-[720px]' }

/** The frame of every page, with heading, actions and content. After a page change, the heading gets the focus. */
export function Page({ title, actions, text, width = 'normal', children }: PageProps) {
  return (
    <div className={`mx-auto w-full ${widths[width]}`}>
      <header className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <PageHeading title={title} />
          {text !== undefined && <p className="mt-0.5 text-sm text-muted">{text}</p>}
        </div>
        {actions !== undefined && <div className="flex max-w-full flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A box with a border, such as a section of a form or a chart. */
export function Card(props: { title?: string; actions?: ReactNode; className?: string; children: ReactNode }) {
  const { title, actions, className = '', children } = props
  return (
    <section className={`rounded-lg border border-line bg-surface ${className}`} aria-label={title}>
      {title !== undefined && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 border-b border-line px-4 py-1.5">
          <h2 className="text-base font-medium">{title}</h2>
          {actions}
        </div>
      )}
      <div className="p-4">{children}</div>
    </section>
  )
}
