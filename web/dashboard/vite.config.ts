import { defineConfig } from 'vite'
import { finish, tables } from '../shared/build.ts'

/** Small folders come together: small files alone compress badly. */
const TOGETHER: Record<string, string> = { security: 'team', settings: 'team', audit: 'team', notices: 'team', application: 'operator' }
const together = (folder: string | undefined) => (folder === undefined ? null : (TOGETHER[folder] ?? folder))

export default defineConfig({
  // The server writes where the page's files are; they find each other.
  base: './',
  cacheDir: '../node_modules/.vite',
  plugins: [tables(), finish('./')],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // All that every screen begins with in one file.
            { name: 'page', tags: ['$initial'], priority: 4 },
            // What several screens share: lists, forms, charts, texts of what is set up, and computing addresses.
            { name: 'parts', test: /dashboard.src.parts|shared.(money|time|parts)/, priority: 3 },
            { name: 'setup', test: /dashboard.src.texts.(en-)?setup/, priority: 2 },
            { name: 'addresses', test: /shared.chain.(networks|payee|verify|evm)/, priority: 2 },
            // Screens of one kind come together: small files alone compress badly, and whoever opens a list opens its rows.
            { name: (id: string) => together(/dashboard.src.screens.(\w+)/.exec(id)?.[1]), test: /dashboard.src.screens/, priority: 1 },
          ],
        },
      },
    },
  },
})
