// Runs before the first paint, so that the stored theme and sidebar state apply from the start.
try {
  const known = { theme: ['light', 'dark'], sidebar: ['icons'], density: ['compact'] }
  for (const name in known) {
    const value = localStorage.getItem(`ui.${name}`)
    if (known[name].includes(value)) document.documentElement.dataset[name] = value
  }
} catch {
  // If the browser denies access to its storage, the system's theme is used.
}
