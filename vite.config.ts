import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { version } from './server/version.ts'
import { compiledMessages, endpointsAsData, precompressed, preloadedEntry, themeBoot } from './tools/vite-plugins.ts'

const root = resolve(import.meta.dirname, 'console')
const server = process.env['TOLLGATE_SERVER'] ?? 'http://127.0.0.1:3000'

const corePackages =
  /\/node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack\/(?:react-router|router-core|history|react-store|store)|@lingui\/core|clsx|class-variance-authority)\//
const coreModules =
  /\/console\/(?:lib\/(?:base-path|call|chunk|clipboard|commands|countdown|expiry|finish-login|hotkeys|observable|page-title|preferences|session|status|storage|text|theme|toast|url-state)\.ts|components\/ui\/(?:banner|button|icon-button|input|page|password-input|spinner|states)\.tsx|app\/(?:brand|footer|lazy-page|preferences-buttons)\.tsx)$/

function isCore(id: string): boolean {
  return corePackages.test(id) || coreModules.test(id)
}

/** Parts that most pages want. One file of them compresses better than many small ones, and is asked for at once. */
const chunkGroups = [
  { name: 'core', test: isCore, priority: 3 },
  { name: 'query', test: /\/@tanstack\/(?:react-query|query-core)\//, priority: 2 },
  { name: 'icons', test: /\/lucide-react\//, priority: 1, minShareCount: 2 },
]

export default defineConfig({
  root,
  // Addresses of files are relative to the file that names them, so that the console works under any path.
  base: './',
  plugins: [
    endpointsAsData(resolve(import.meta.dirname, 'contract/api')),
    compiledMessages(resolve(root, 'messages')),
    react(),
    tailwind(),
    themeBoot(resolve(root, 'theme-boot.js')),
    preloadedEntry(),
    precompressed(),
  ],
  define: { consoleVersion: JSON.stringify(version) },
  build: {
    outDir: process.env['CONSOLE_OUT'] ?? resolve(import.meta.dirname, 'dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: 'manifest.json',
    assetsInlineLimit: 0,
    // Lists of what to preload would cost more script than they save; the entry's own parts are named in the page.
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 400,
    rolldownOptions: { output: { codeSplitting: { groups: chunkGroups } } },
  },
  server: { proxy: Object.fromEntries(['/api', '/v1'].map((path) => [path, { target: server, changeOrigin: true }])) },
})
