const meta = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')

/**
 * The path under which the console is served, without a trailing slash, such as '' or '/gateway'. The server writes it
 * into the page.
 */
export const basePath = (meta?.content ?? '/').replace(/\/+$/, '')

/** Full URL of a path on this server, for links that are used outside the browser. */
export function absoluteUrl(path: string): string {
  return `${location.origin}${basePath}${path}`
}
