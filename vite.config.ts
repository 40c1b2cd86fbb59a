import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { version } from './server/version.ts'
import { firstScript } from './tools/first-script.ts'
import {
  chunkNames,
  compiledMessages,
  dividedPages,
  endpointsAsData,
  plainImports,
  precompressed,
  preloadedEntry,
  shortCatalogueTable,
  smallerModules,
} from './tools/vite-plugins.ts'

const root = resolve(import.meta.dirname, 'console')
const server = process.env['TOLLGATE_SERVER'] ?? 'http://127.0.0.1:3000'

const corePackages =
  /\/node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack\/(?:react-router(?!.*\/useBlocker)|router-core|history|react-store|store))\//
const coreModules =
  /\/console\/(?:lib\/(?:base-path|call|chunk|commands|countdown|expiry|finish-login|hotkeys|languages|lucide-icon|message-format|observable|page-title|router-(?:boundary|link|query|scroll)|session|single-keys|status|storage|text|theme|toast|url-query)\.ts|components\/(?:outside-logins|ui\/(?:banner|button|icon-button|input|loading|page-heading|password-input|spinner))\.tsx|app\/(?:brand|footer|lazy-page|preferences-buttons)\.tsx)$|\/contract\/api\/auth\.ts$/

/** Modules that nearly every page in the shell needs. The schemas of the contract are not among them. */
const sharedPackages = /\/@tanstack\/(?:react-query|query-core)\/(?!.*\/(?:useQueries|queriesObserver)\.js)/
const sharedModules =
  /\/console\/(?:lib\/(?:clipboard|crumb|csv|download|first-look|format|groups|list-source|preferences|query-client|read-usage|screen|self|undo|url-state|use-url-state|way-back)\.ts|components\/ui\/(?:checkbox|menu|on-demand|page|popover|segmented|select|states|use-confirm)\.tsx)$|\/contract\/(?:quota|statuses|log-types|api\/(?:channel|group|log|option|price|redemption|token|usage|user))\.ts$/

/**
 * Parts that most pages need. One file compresses better than many small ones, and a browser requests only a few files
 * at once. A group does not include its dependencies if these also belong to other groups.
 */
const chunkGroups = [
  { name: 'core', test: (id: string) => corePackages.test(id) || coreModules.test(id), priority: 4 },
  {
    name: 'shared',
    test: (id: string) => sharedPackages.test(id) || sharedModules.test(id),
    priority: 3,
    includeDependenciesRecursively: false,
  },
  {
    name: 'table',
    test: /\/console\/components\/data-table\/(?!focus-first|lasting|filter-bar|status-filter)|\/@tanstack\/(?:react-table|table-core)\/|\/(?:useQueries|queriesObserver)\.js$/,
    priority: 2,
    includeDependenciesRecursively: false,
  },
  { name: 'icons', test: /\/lucide-react\//, priority: 1, minShareCount: 2 },
]

export default defineConfig({
  root,
  // The URLs in a file are relative to this file, so that the console works under any path.
  base: './',
  plugins: [
    smallerModules(resolve(root, 'lib')),
    endpointsAsData(resolve(import.meta.dirname, 'contract/api')),
    compiledMessages(resolve(root, 'messages')),
    dividedPages(root),
    react(),
    tailwind(),
    firstScript(root),
    preloadedEntry(),
    plainImports(),
    shortCatalogueTable(),
    precompressed(),
  ],
  // React contains the hook `useSyncExternalStore`. The package with this name contains a copy for old versions of
  // React, which is not needed.
  resolve: {
    alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }],
  },
  define: { consoleVersion: JSON.stringify(version) },
  build: {
    outDir: process.env['CONSOLE_OUT'] ?? resolve(import.meta.dirname, 'dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: 'manifest.json',
    assetsInlineLimit: 0,
    // Preload lists in the chunks would be larger than their benefit. Instead, index.html lists the chunks of the
    // entry, and the boot script lists the chunks of each page.
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: chunkGroups },
        // The boot script contains the names of all chunks, and hashes cannot be compressed. So the hashes are short:
        // seven characters, which are 42 bits.
        entryFileNames: 'assets/[name]-[hash:7].js',
        chunkFileNames: chunkNames(resolve(root, 'messages')),
      },
    },
  },
  server: { proxy: Object.fromEntries(['/api', '/v1'].map((path) => [path, { target: server, changeOrigin: true }])) },
})
