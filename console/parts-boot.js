// Runs before the entry: the parts of the page that the address names are asked for while the entry is on its way, and for
// people who are logged in its frame. The build puts the table of parts in place of the name.
try {
  const { files, frames, words, routes } = firstParts
  const folder = document.currentScript.src.replace(/[^/]*$/, '')
  const path = `/${location.pathname.slice(new URL('..', folder).pathname.length)}`.replace(/(.)\/+$/, '$1')
  let chinese = 0
  const say = () => document.body.replaceChildren(document.querySelector('template').content.children[chinese])
  // Until React has begun, a script of ours that fails leaves nothing to use, and a frame that seems to wait for more.
  const failed = ({ target, error, filename }) => {
    const script = target.type === 'module' ? target.src : error instanceof SyntaxError ? filename : ''
    if (script.startsWith(folder) && !document.querySelector('#root > :not([aria-hidden])')) say()
  }
  addEventListener('error', failed, true)
  addEventListener('unusable', say)
  // As lib/session.ts and lib/text.ts read them.
  let user = { role: NaN }
  try {
    const { id, username, role } = JSON.parse(localStorage.getItem('user'))
    if (`${typeof id} ${typeof username} ${typeof role}` === 'number string number') user = { role }
  } catch {
    // A record that cannot be read counts as nobody.
  }
  const chosen = localStorage.getItem('ui.lang')
  const language = /^(?:en|zh|pseudo)$/.test(chosen)
    ? chosen
    : navigator.languages.find((each) => /^(?:en|zh)\b/i.test(each))
  chinese = /^zh/i.test(language) ? 1 : 0
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
  const ofAll = [...parts, ...(isUser ? ofUsers : [])].map((at) => files[at])
  for (const name of [...ofAll, ...areas.map((area) => words[area * 2 + chinese])]) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = `${folder}${name}.js`
    place(link)
  }
} catch {
  // The entry loads what it needs by itself.
}
