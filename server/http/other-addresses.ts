/**
 * Matches the paths that clients request if their base URL has no `/v1`, or if it is the base URL of Google's
 * OpenAI-compatible API. URLs that begin with `/v1/` or `/api/` are not matched against it, which saves time for most
 * requests.
 */
const withoutVersion =
  /^\/(?:v1beta\/openai\/)?((?:chat\/completions|completions|embeddings|responses|messages|models)(?:\/.*)?)$/

/**
 * If the URL of a request is an alternative one, returns the request with the usual URL of the endpoint. Otherwise,
 * returns the request unchanged.
 */
export function atUsualAddress(request: Request): Request {
  const { url } = request
  const from = url.indexOf('/', url.indexOf('://') + 3)
  if (from < 0 || url.startsWith('/v1/', from) || url.startsWith('/api/', from)) return request
  const query = url.indexOf('?', from)
  const path = query < 0 ? url.slice(from) : url.slice(from, query)
  const usual = path === '/health' ? '/healthz' : usualPath(path)
  return usual === undefined
    ? request
    : new Request(url.slice(0, from) + usual + url.slice(from + path.length), request)
}

function usualPath(path: string): string | undefined {
  const [, rest] = withoutVersion.exec(path) ?? []
  return rest === undefined ? undefined : `/v1/${rest}`
}
