/**
 * True if the browser's headers show that a page of another site made this request. Browsers send Sec-Fetch-Site to TLS
 * and localhost URLs, Origin with every request except plain GETs, and usually Referer with plain GETs. Other programs
 * send none of these headers. Their requests are accepted, because these programs never send somebody's cookies by
 * accident.
 */
export function isCrossSite(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const source = request.headers.get('origin') ?? request.headers.get('referer')
  if (source === null) return false
  if (!URL.canParse(source)) return true
  // Only host and port are compared, because behind a proxy that terminates TLS, the scheme of this request differs
  // from the browser's.
  return new URL(source).host !== new URL(request.url).host
}

/**
 * True if a browser requests a URL as a page, an image or another part of a page, for example because of a link in an
 * email or an image in a text that the console shows. Scripts of pages send different headers. A request without a
 * browser's headers, or one that accepts any content type, is assumed to come from a program.
 */
export function isPageLoad(request: Request): boolean {
  const header = (name: string) => request.headers.get(name)
  if (header('sec-fetch-site') !== null) {
    // Scripts of browser extensions send `Sec-Fetch-Site: none`, as a browser does for a typed URL. Their other headers
    // are the same as those of a page's scripts.
    const mode = header('sec-fetch-mode') ?? 'cors'
    return (header('sec-fetch-dest') ?? 'empty') !== 'empty' || !/^(cors|same-origin)$/.test(mode)
  }
  return /text\/html|text\/css|application\/xhtml|image\//i.test(header('accept') ?? '')
}
