import type { ReactNode } from 'react'
import type { Finding, ImportReport } from '../../../contract/api/import.ts'
import { Card } from '../../components/ui/page.tsx'
import { formatCount } from '../../lib/format.ts'
import { textByKey, useText } from '../../lib/text.ts'
import { Sentence } from './sentence.tsx'

const counted = ['users', 'tokens', 'channels', 'codes', 'logs'] as const

/** What an import did or would do: counts, sums side by side, prices, options, and what could not be imported. */
export function ReportView({ report }: { report: ImportReport }) {
  const t = useText()
  const { program, version, mode, added, sums, dryRun, prices, options, findings } = report
  const differing = prices.filter(({ differs }) => differs !== false)
  return (
    <div className="flex flex-col gap-4">
      <Card title={`${program} ${version}`.trim()}>
        <p className="text-sm text-muted">{t(`import.mode.${mode}`)}</p>
        <dl className="mt-3 grid grid-cols-2 gap-3 sm:grid-cols-5">
          {counted.map((kind) => (
            <div key={kind}>
              <dt className="text-sm text-muted">{t(`import.part.${kind}`)}</dt>
              <dd className="num text-lg">{formatCount(added[kind])}</dd>
            </div>
          ))}
        </dl>
        {report.changedMeanwhile && <p className="mt-3 text-sm text-warn">{t('import.changed')}</p>}
        {report.leftovers > 0 && (
          <p className="mt-3 text-sm text-muted">
            {t(dryRun ? 'import.leftovers.planned' : 'import.leftovers.written', { count: report.leftovers })}
          </p>
        )}
      </Card>
      <Card title={t('import.sums')}>
        <Table
          label={t('import.sums')}
          heads={[
            t('import.sum'),
            t('import.there'),
            t('import.corrected'),
            t(dryRun ? 'import.willBeHere' : 'import.here'),
          ]}
          rows={sums.map(({ name, there, corrected, here }) => [
            textByKey(`import.sum.${name.replaceAll(/[^a-z]+/g, '-')}`) ?? name,
            formatCount(there),
            corrected === 0 ? '' : formatCount(corrected),
            formatCount(here),
          ])}
        />
      </Card>
      {prices.length > 0 && (
        <Card title={t('import.prices')}>
          <p className="text-sm text-muted">
            {differing.length === 0 ? t('import.prices.same', { count: prices.length }) : t('import.prices.note')}
          </p>
          {differing.length > 0 && (
            <Table
              label={t('import.prices')}
              heads={[t('import.model'), t('import.there'), t('import.here')]}
              rows={differing.map(({ model, theirs, ours }) => [model, theirs, ours])}
            />
          )}
        </Card>
      )}
      {options.length > 0 && (
        <Card title={t('import.options')}>
          <Table
            label={t('import.options')}
            heads={[t('import.option'), t('import.before'), t('import.after')]}
            rows={options.map(({ key, from, to }) => [key, from, to])}
          />
        </Card>
      )}
      {findings.length > 0 && <Findings findings={findings} />}
    </div>
  )
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  const t = useText()
  return (
    <Card title={t('import.findings')}>
      <ul className="flex flex-col gap-3">
        {findings.map(({ kind, text, code, values, reason, count, examples }) => (
          <li key={`${kind} ${text}`} className="text-sm break-words">
            <Sentence text={text} code={code} values={values} reason={reason} />
            <p className="text-muted" data-verbatim>
              {formatCount(count)}: {examples.join(', ')}
              {count > examples.length && ', …'}
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** A table that scrolls sideways on narrow screens; its first column is a name. */
function Table(props: { label: string; heads: readonly string[]; rows: readonly (readonly ReactNode[])[] }) {
  const { label, heads, rows } = props
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll the table
    <section className="overflow-x-auto" tabIndex={0}>
      <table className="w-full text-sm">
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr className="border-b border-line text-muted">
            {heads.map((head, at) => (
              <th key={head} scope="col" className={`py-1.5 pr-3 font-medium ${at === 0 ? 'text-start' : 'text-end'}`}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a report never change
            <tr key={at} className="border-b border-line last:border-0">
              <th scope="row" className="py-1.5 pr-3 text-start font-normal break-words">
                {name}
              </th>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: nor do its columns
                <td key={column} className="num py-1.5 pr-3 text-end break-words" data-verbatim>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
