import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { finish, tables } from '../shared/build.ts'

/** Small folders come together: small files alone compress badly. */
const TOGETHER: Record<string, string> = {
  security: 'team',
  settings: 'team',
  audit: 'team',
  notices: 'team',
  application: 'operator',
  plans: 'subscriptions',
  customers: 'subscriptions',
  payments: 'reviews',
}
const together = (folder: string | undefined) => (folder === undefined ? null : (TOGETHER[folder] ?? folder))

const TEXTS = fileURLToPath(new URL('src/texts/en.ts', import.meta.url))

/** One file of texts, two files of the build: t.ts and setup.ts each get a copy of it, of which only what they take remains. */
function splitTexts(): Plugin {
  return {
    name: 'till-split-texts',
    apply: 'build',
    enforce: 'pre',
    resolveId: (id, from) => (/\/en\.ts$/.test(id) ? `${TEXTS}?${from?.endsWith('/setup.ts') ? 'setup' : 'start'}` : null),
    load: (id) => (id.startsWith(`${TEXTS}?`) ? { code: readFileSync(TEXTS, 'utf8'), moduleType: 'ts', moduleSideEffects: false } : null),
  }
}

export default defineConfig({
  // The server writes where the page's files are; they find each other.
  base: './',
  cacheDir: '../node_modules/.vite',
  plugins: [splitTexts(), tables(), finish('./')],
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
            { name: 'setup', test: /dashboard.src.texts.(setup|en\.ts\?setup)/, priority: 2 },
            { name: 'addresses', test: /shared.chain.(networks|payee|verify|evm)/, priority: 2 },
            // Screens of one kind come together: small files alone compress badly, and whoever opens a list opens its rows.
            { name: (id: string) => together(/dashboard.src.screens.(\w+)/.exec(id)?.[1]), test: /dashboard.src.screens/, priority: 1 },
          ],
        },
      },
    },
  },
})
