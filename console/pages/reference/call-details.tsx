import { CodeTabs } from '../../components/code-tabs.tsx'
import { serverAddress } from '../../lib/server-address.ts'
import { useText } from '../../lib/text.ts'
import { type ApiDocument, type ApiResponse, type Call, fieldsOf, resolved, typeOf } from './document.ts'
import { ErrorTables } from './error-tables.tsx'
import { FieldTable, Words } from './parts.tsx'
import { samplesOf, tokenPlaceholder } from './samples.ts'

/** The user's token whose key is in the samples. */
export interface ChosenToken {
  id: number
  key: string
  masked: string
}

interface CallDetailsProps {
  call: Call
  document: ApiDocument
  token: ChosenToken | undefined
}

/** One operation: samples, parameters, response and errors. */
export function CallDetails({ call, document, token }: CallDetailsProps) {
  const t = useText()
  const { method, path, operation } = call
  return (
    <article aria-labelledby="call" className="flex min-w-0 flex-col gap-6">
      <header className="flex flex-col gap-2" lang="en" data-verbatim>
        <h2 id="call" className="text-lg font-semibold">
          {operation.summary}
        </h2>
        <p className="font-mono text-sm break-all">
          <span className="font-semibold">{method}</span> {path}
        </p>
        {operation.description && <Words text={operation.description} />}
      </header>
      <p className="text-sm text-muted">{t(who(call))}</p>
      <CodeTabs
        label={t('reference.sample')}
        snippets={samplesOf(call, serverAddress(), token?.key ?? tokenPlaceholder)}
        secret={token && { value: token.key, shown: token.masked }}
      />
      <Inputs call={call} document={document} />
      <Success response={operation.responses['200']} document={document} />
      <ErrorTables call={call} document={document} />
    </article>
  )
}

function who({ operation }: Call) {
  const scheme = operation.security[0]
  if (!scheme) return 'reference.who.all'
  if ('relayToken' in scheme || 'metricsToken' in scheme) return 'reference.who.token'
  const role = Object.values(scheme)[0]?.[0]
  if (role === 'admin') return 'reference.who.admin'
  return role === 'root' ? 'reference.who.root' : 'reference.who.user'
}

function Inputs({ call: { operation }, document }: Omit<CallDetailsProps, 'token'>) {
  const t = useText()
  const parameters = (operation.parameters ?? []).map(({ name, in: place, required, description = '', schema }) => ({
    path: name,
    place,
    type: typeOf(schema),
    required,
    description,
  }))
  return (
    <>
      <FieldTable title={t('reference.parameters')} fields={parameters} />
      {Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => (
        <FieldTable key={type} title={t('reference.body', { type })} fields={fieldsOf(schema, document)} />
      ))}
    </>
  )
}

function Success(props: { response: Call['operation']['responses'][string] | undefined; document: ApiDocument }) {
  const { response, document } = props
  const t = useText()
  const found: ApiResponse | undefined = response && resolved(response, document.components.responses)
  if (!found) return null
  const headers = Object.entries(found.headers ?? {}).map(([path, header]) => ({
    path,
    type: '',
    required: false,
    description: resolved(header, document.components.headers)?.description ?? '',
  }))
  const content = Object.entries(found.content ?? {})
  return (
    <>
      {content.map(([type, { schema }]) =>
        type === 'application/json' ? (
          <FieldTable key={type} title={t('reference.response')} fields={fieldsOf(schema, document)} />
        ) : (
          <p key={type} className="text-sm" lang="en" data-verbatim>
            <code className="font-mono text-xs">{type}</code> {schema.description}
          </p>
        ),
      )}
      <FieldTable title={t('reference.headers')} fields={headers} />
    </>
  )
}
