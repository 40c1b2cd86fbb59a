import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { api } from '../../../contract/api/index.ts'
import type { AppContext } from '../../http/app-env.ts'
import { type ApiRouter, servePublic } from '../../http/serve-endpoint.ts'
import type { ApiDeps } from '../deps.ts'
import { openApiDocument } from './document.ts'
import { docsPage, pagePolicy } from './page.ts'

/** How many seconds the document may be cached without revalidation. The document changes only with the version. */
const maxAge = 300

interface TextWithEtag {
  text: string
  gzip: Uint8Array<ArrayBuffer>
  etag: string
}

/** The API as a document and as a page, both generated from the contract on the first request. */
export function mountOpenApi(router: ApiRouter, { version, basePath }: Pick<ApiDeps, 'version' | 'basePath'>): void {
  const document = once(() => openApiDocument(version, basePath))
  const json = once(() => withEtag(JSON.stringify(document())))
  const page = once(() => withEtag(docsPage(document())))

  servePublic(router, api.docs.document, ({ context }) =>
    answer(context, json(), {
      'content-type': 'application/json; charset=utf-8',
      // The document is the same for everybody and contains no secret, so tools on other sites may read it.
      'access-control-allow-origin': '*',
    }),
  )

  servePublic(router, api.docs.page, ({ context }) =>
    answer(context, page(), {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': pagePolicy,
      'referrer-policy': 'no-referrer',
    }),
  )
}

function withEtag(text: string): TextWithEtag {
  return {
    text,
    // The text is compressed once and sent often, so the highest level is worth its time. It saves about 10%.
    gzip: new Uint8Array(gzipSync(text, { level: 9 })),
    etag: `"${createHash('sha256').update(text).digest('base64url')}"`,
  }
}

function answer(c: AppContext, { text, gzip, etag }: TextWithEtag, headers: Record<string, string>): Response {
  const all = {
    ...headers,
    etag,
    'cache-control': `public, max-age=${maxAge}`,
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
  }
  const known = (c.req.header('if-none-match') ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return c.body(null, 304, all)
  // Uncompressed, the document is more than ten times as large.
  const isCompressed = /(?:^|,)\s*gzip\s*(?:,|$)/i.test(c.req.header('accept-encoding') ?? '')
  return isCompressed ? c.body(gzip, 200, { ...all, 'content-encoding': 'gzip' }) : c.body(text, 200, all)
}

function once<T extends object>(make: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= make()
    return value
  }
}
