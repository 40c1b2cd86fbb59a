// Runs before the entry: the parts of the page that the address names are asked for while the entry is on its way, and for
// people who are logged in its frame. The build puts the table of parts in place of the name.
try {
  const { files, frames, words, routes } = firstParts
  const folder = document.currentScript.src.replace(/[^/]*$/, '')
  const path = `/${location.pathname.slice(new URL('..', folder).pathname.length)}`.replace(/(.)\/+$/, '$1')
  // As lib/session.ts and lib/text.ts read them.
  const stored = /^\{/.test(localStorage.getItem('user')) ? JSON.parse(localStorage.getItem('user')) : {}
  const user = typeof stored.id === 'number' && typeof stored.username === 'string' ? stored : { role: NaN }
  const chosen = localStorage.getItem('ui.lang')
  const language = /^(?:en|zh|pseudo)$/.test(chosen)
    ? chosen
    : navigator.languages.find((each) => /^(?:en|zh)\b/i.test(each))
  const chinese = /^zh/i.test(language) ? 1 : 0
  // Without its entry the page would stay as it is.
  const failed = ({ target }) => {
    if (target.type !== 'module' || target.rel) return
    document.body.textContent = chinese
      ? '控制台无法加载，请刷新页面。'
      : 'The console could not be loaded. Please reload the page.'
  }
  addEventListener('error', failed, true)
  const routeOf = (of) => routes.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(of))
  const found = routeOf(path)
  const isUser = user.role >= 0
  const [, role, parts, areas, ofUsers = []] = found[1] && !isUser ? routeOf('/login') : found
  const place = (element) => document.head.append(element)
  if (user.role >= role) {
    const script = document.createElement('script')
    script.fetchPriority = 'high'
    script.dataset.route = routes.indexOf(found)
    script.src = `${folder}${frames[chinese]}.js`
    place(script)
  }
  const texts = areas.map((area) => words[area][chinese])
  for (const at of [...parts, ...texts, ...(isUser ? ofUsers : [])]) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.crossOrigin = ''
    link.href = `${folder}${files[at]}.js`
    place(link)
  }
} catch {
  // The entry loads what it needs by itself.
}
