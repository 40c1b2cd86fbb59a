// Runs before the first paint: the stored theme and sidebar state are on the page before anything is drawn.
try {
  var theme = localStorage.getItem('ui.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  if (localStorage.getItem('ui.sidebar') === 'icons') document.documentElement.dataset.sidebar = 'icons'
  if (localStorage.getItem('ui.density') === 'compact') document.documentElement.dataset.density = 'compact'
} catch {
  // Storage may be refused; the system's theme is then shown.
}
