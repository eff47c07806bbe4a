import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'
import { finish, tables } from '../shared/build.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

const WORDS = 'src/words'

/**
 * The words of one language and part as a list, in the order of the English ones. The code calls them by name
 * (`'pay.copy'`), and by their place in that list once it is built: names are not shipped.
 */
function words(): Plugin {
  const folders = readdirSync(new URL(WORDS, import.meta.url), { withFileTypes: true }).filter((one) => one.isDirectory())
  const load = (language: string, group: string) =>
    JSON.parse(read(`${WORDS}/${language}/${group}.json`)) as Record<string, string>
  const groups = readdirSync(new URL(`${WORDS}/en`, import.meta.url)).map((file) => file.replace('.json', ''))
  const names = new Map(groups.map((group) => [group, Object.keys(load('en', group))]))
  const used = new RegExp(`(['"])(${groups.join('|')})\\.([a-z_0-9]+)\\1`, 'g')
  const files = folders.flatMap((folder) =>
    groups.filter((group) => existsSync(new URL(`${WORDS}/${folder.name}/${group}.json`, import.meta.url))).map((group) => `${folder.name}/${group}`),
  )
  const PREFIX = '\0till:words'
  return {
    name: 'till-words',
    enforce: 'pre',
    transform: (code, id) => {
      if (!/checkout\/(src|tests)\/[^?]*\.tsx?$/.test(id)) return null
      return code.replace(used, (_, quote: string, group: string, name: string) => {
        const place = names.get(group)?.indexOf(name) ?? -1
        if (place < 0) throw new Error(`${id} says ${group}.${name}, which is no word`)
        return `${quote}${group}.${place}${quote}`
      })
    },
    resolveId: (id) => (id.startsWith('till:words') ? `\0${id}` : null),
    load: (id) => {
      if (!id.startsWith(PREFIX)) return null
      const [, language, group] = id.split('/')
      if (language && group) {
        const said = load(language, group)
        return `export default ${JSON.stringify(Object.keys(load('en', group)).map((name) => said[name]))}`
      }
      const imports = files.map((file) => `${JSON.stringify(file)}: () => import('till:words/${file}')`)
      return `export const files = {${imports}}`
    },
  }
}

export default defineConfig({
  // The page finds its own files wherever it is put.
  base: './',
  cacheDir: '../node_modules/.vite',
  // Every page lies one level below the folder: `i/…`, `l/…`, `r/…`.
  plugins: [tables(), words(), finish('../')],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: '../dist/checkout',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // The page begins with one script; what comes later asks for what it needs by itself.
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Few files: all that a page begins with in one, and small parts that are wanted together in another.
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 3 },
            { name: 'base58', test: /@scure.base|hashes.(sha2|_md)|chain.tron/, priority: 2 },
            { name: 'later', test: /src.invoice.(later|confirming|ended|receipt|rest)|parts.track/, priority: 1 },
            { name: 'help', test: /src.invoice.(email|lookup|exchange|more|gone|left-out)|parts.field/, priority: 1 },
          ],
        },
      },
    },
  },
})
