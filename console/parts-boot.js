// Runs before the entry: the parts of the page that the address names are asked for while the entry is on its way.
// The build puts the table of parts in place of the name.
try {
  const { files, words, routes } = firstParts
  const folder = document.currentScript.src.replace(/[^/]*$/, '')
  const path = `/${location.pathname.slice(new URL('..', folder).pathname.length)}`.replace(/(.)\/+$/, '$1')
  const isUser = localStorage.getItem('user') !== null
  const language = [localStorage.getItem('ui.lang'), ...navigator.languages].find((each) => /^(?:en|zh|ps)/i.test(each))
  const routeOf = (of) => routes.find(([pattern]) => new RegExp(`^${pattern}$`, 'i').test(of))
  const found = routeOf(path)
  const [, , parts, areas, ofUsers = []] = found[1] && !isUser ? routeOf('/login') : found
  const texts = areas.map((area) => words[area][/^zh/i.test(language) ? 1 : 0])
  for (const at of [...parts, ...texts, ...(isUser ? ofUsers : [])]) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.crossOrigin = ''
    link.href = `${folder}${files[at]}.js`
    document.head.append(link)
  }
} catch {
  // The entry loads what it needs by itself.
}
