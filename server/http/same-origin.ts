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

/**
 * True when a browser asks for an address as a page, a picture or another part of one, as a link in a mail or an image
 * in a text of ours makes it; scripts of pages ask otherwise. What says nothing of it, or takes anything, is a program.
 */
export function isPageLoad(request: Request): boolean {
  const header = (name: string) => request.headers.get(name)
  if (header('sec-fetch-site') !== null) {
    // Scripts of extensions belong to no site, and ask as scripts do.
    const mode = header('sec-fetch-mode') ?? 'cors'
    return (header('sec-fetch-dest') ?? 'empty') !== 'empty' || !/^(cors|same-origin)$/.test(mode)
  }
  return /text\/html|text\/css|application\/xhtml|image\//i.test(header('accept') ?? '')
}
