import { createElement, Fragment, type ReactNode } from 'react'
import { useText } from '../../lib/text.ts'
import type { Field } from './document.ts'

/** A text from the document, with code in backticks. An empty line starts a new paragraph. */
export function Words({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph} className="text-sm">
      <Line text={paragraph} />
    </p>
  ))
}

/** A line of text with code in backticks. */
export function Line({ text }: { text: string }) {
  // The pieces of a constant text keep their order, so React needs no keys.
  return createElement(
    Fragment,
    null,
    ...text.split('`').map((piece, index) => (index % 2 === 1 ? createElement(Code, null, piece) : piece)),
  )
}

function Code({ children }: { children?: ReactNode }) {
  return <code className="font-mono text-xs break-words">{children}</code>
}

interface SectionProps {
  title: string
  columns: readonly string[]
  children: ReactNode
}

/** A table with a heading, which scrolls sideways on narrow screens. */
export function TableSection({ title, columns, children }: SectionProps) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1.5 text-base font-medium">{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region */}
      <section className="overflow-x-auto rounded-lg border border-line bg-surface" tabIndex={0} aria-label={title}>
        <table className="w-full text-left text-sm">
          <thead className="border-b border-line text-xs text-muted">
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" className="px-3 py-2 font-medium">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody
            lang="en"
            data-verbatim
            className="[&_td]:px-3 max-sm:[&_td]:px-2 [&_td]:py-1.5 [&_td]:align-top [&_th]:px-3 max-sm:[&_th]:px-2 [&_th]:py-1.5 [&_th]:align-top [&_th]:font-normal [&_tr+tr]:border-t [&_tr+tr]:border-line"
          >
            {children}
          </tbody>
        </table>
      </section>
    </div>
  )
}

/** A table of fields with type and meaning. Renders nothing if there are none. */
export function FieldTable(props: { title: string; fields: readonly (Field & { place?: string })[] }) {
  const { title, fields } = props
  const t = useText()
  if (fields.length === 0) return null
  const hasPlace = fields.some(({ place }) => place !== undefined)
  const hasType = fields.some(({ type }) => type !== '')
  const columns = [
    t('reference.name'),
    ...(hasPlace ? [t('reference.in')] : []),
    ...(hasType ? [t('reference.type')] : []),
    t('reference.meaning'),
  ]
  return (
    <TableSection title={title} columns={columns}>
      {fields.map(({ path, place, type, required, description }) => (
        <tr key={`${place} ${path}`}>
          <th scope="row">
            <code className="font-mono text-xs">{path}</code>
            {required && <span className="block text-xs text-muted">{t('reference.required')}</span>}
          </th>
          {hasPlace && <td>{place}</td>}
          {hasType && <td className="font-mono text-xs">{type}</td>}
          <td className="min-w-56">
            <Line text={description} />
          </td>
        </tr>
      ))}
    </TableSection>
  )
}
