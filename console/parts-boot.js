// Runs before the entry: the chunks of the page that the address names are requested while the entry is loading, and
// for logged-in users also its frame. The build replaces the name with the table of chunks.
try {
  const { files, frames, languages, areas, hashes, routes } = firstParts
  const folder = document.currentScript.src.replace(/[^/]*$/, '')
  const path = `/${location.pathname.slice(new URL('..', folder).pathname.length)}`.replace(/(.)\/+$/, '$1')
  let language = 0
  const say = () => document.body.replaceChildren(document.querySelector('template').content.children[language])
  // Until React has started, a script of ours that fails leaves an unusable page, and a frame that seems to be loading.
  const failed = ({ target, error, filename }) => {
    const script = target.type === 'module' ? target.src : error instanceof SyntaxError ? filename : ''
    if (script.startsWith(folder) && !document.querySelector('#root > :not([aria-hidden])')) say()
  }
  addEventListener('error', failed, true)
  addEventListener('unusable', say)
  // Read the same way as in lib/session.ts and lib/text.ts.
  let user = { role: NaN }
  try {
    const { id, username, role } = JSON.parse(localStorage.getItem('user'))
    if (`${typeof id} ${typeof username} ${typeof role}` === 'number string number') user = { role }
  } catch {
    // An unreadable record counts as logged out.
  }
  const chosen = localStorage.getItem('ui.lang')
  if (chosen !== 'pseudo') {
    const preferred = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0])
    language = [chosen, ...preferred].map((each) => languages.indexOf(each)).find((at) => at >= 0) ?? 0
  }
  const routeOf = (of) => routes.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(of))
  const found = routeOf(path)
  const isUser = user.role >= 0
  const wordsFile = (at) => `${areas[at]}.${languages[language]}-${hashes[language]}`
  const [, role, parts, words, ofUsers = []] = found[1] && !isUser ? routeOf('/login') : found
  const place = (element) => document.head.append(element)
  if (user.role >= role) {
    const script = document.createElement('script')
    script.fetchPriority = 'high'
    script.dataset.route = routes.indexOf(found)
    script.src = `${folder}${frames[language]}.js`
    place(script)
  }
  const ofAll = [...parts, ...(isUser ? ofUsers : [])].map((at) => files[at])
  for (const name of [...ofAll, ...words.map(wordsFile)]) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = `${folder}${name}.js`
    place(link)
  }
} catch {
  // The entry loads what it needs by itself.
}
