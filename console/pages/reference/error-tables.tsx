import { CodeBlock } from '../../components/ui/code-block.tsx'
import { useText } from '../../lib/text.ts'
import { type ApiDocument, type ApiExample, type Call, resolved } from './document.ts'
import { Line, TableSection } from './parts.tsx'

/** The errors of an operation by status and, for requests to models, by code, with an example of the body. */
export function ErrorTables({ call: { operation }, document }: { call: Call; document: ApiDocument }) {
  const t = useText()
  const failures = Object.entries(operation.responses)
    .filter(([status]) => status !== '200' && status !== '101')
    .map(([status, response]) => {
      const found = resolved(response, document.components.responses)
      return { status, description: found?.description ?? '', examples: found?.content?.['application/json']?.examples }
    })
  const examples = failures.flatMap(({ examples = {} }) => Object.values(examples))
  const first = examples[0] && resolved<ApiExample>(examples[0], document.components.examples)
  return (
    <>
      <TableSection
        title={t('reference.errors')}
        columns={[t('reference.status'), t('reference.code'), t('reference.meaning')]}
      >
        {failures.flatMap(({ status, description, examples }) =>
          examples ? (
            Object.entries(examples).map(([code, example]) => (
              <tr key={`${status} ${code}`}>
                <td>{status}</td>
                <th scope="row">
                  <code className="font-mono text-xs wrap-anywhere">{code}</code>
                </th>
                <td className="min-w-40">
                  <Line text={document.components.examples[example.$ref.split('/').at(-1) ?? '']?.summary ?? ''} />
                </td>
              </tr>
            ))
          ) : (
            <tr key={status}>
              <td>{status}</td>
              <td />
              <td className="min-w-40">
                <Line text={description} />
              </td>
            </tr>
          ),
        )}
      </TableSection>
      {first && <CodeBlock label={t('reference.errors.body')} code={JSON.stringify(first.value, null, 2)} />}
    </>
  )
}
