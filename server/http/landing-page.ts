import type { AppContext } from './app-env.ts'

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tollgate</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 15vh auto 0; padding: 0 1.5rem; color: #1c2430 }
  code { background: #eef1f5; padding: .1em .35em; border-radius: 4px }
  @media (prefers-color-scheme: dark) { body { background: #12161c; color: #dfe5ee } code { background: #232a34 } }
</style>
<h1>Tollgate</h1>
<p>The gateway is running. Programs call it at <code>/v1</code> of this address with a token that begins with <code>sk-</code>.</p>
<p>It is managed by the calls under <code>/api</code>; the README shows the first ones.</p>
</html>
`

/** What a browser sees at the root of a gateway. */
export function landingPage(c: AppContext): Response {
  return c.html(page, 200, {
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  })
}
