/**
 * True when a browser says that a page of another site made this request. Browsers send Sec-Fetch-Site to TLS and
 * localhost addresses, Origin with every request but plain GETs, and mostly Referer with those. A program that is not a
 * browser sends none of them and carries nobody's cookies by accident, so it passes.
 */
export function isCrossSite(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const source = request.headers.get('origin') ?? request.headers.get('referer')
  if (source === null) return false
  if (!URL.canParse(source)) return true
  // Host and port only: behind a proxy that ends TLS the scheme seen here is not the browser's.
  return new URL(source).host !== new URL(request.url).host
}
