import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

interface TableNetwork {
  id: string
  family: string
  mode: string
  name: string
  explorer_tx: string
  safe: { tag?: string } | null
  final: { tag?: string }
  factory: string | null
  native: { symbol: string; decimals: number }
  tokens: { symbol: string; contract: string; decimals: number; offered: boolean }[]
}

/** What the page needs of the server's table of networks: one list for both. */
function tables(): Plugin {
  const list = (JSON.parse(read('../../crates/core/data/networks.json')) as { networks: TableNetwork[] }).networks
  const api = JSON.parse(read('../../openapi.json')) as { components: { schemas: Record<string, { properties?: object }> } }
  const networks = list.map((network) => [
    network.id,
    {
      family: network.family,
      name: network.name,
      live: network.mode === 'live',
      explorer: network.explorer_tx,
      // Where both levels are the same tag there is nothing in between to wait for.
      safe: network.safe !== null && !(network.safe.tag !== undefined && network.safe.tag === network.final.tag),
      factory: network.factory,
    },
  ])
  const tokens = list.flatMap((network) =>
    network.tokens
      .filter((token) => token.offered)
      .map(({ symbol, contract, decimals }) => [`${symbol}@${network.id}`, { contract, decimals }]),
  )
  const evm = list.filter((network) => network.family === 'evm')
  const coins = evm.map(({ id, native: { symbol, decimals } }) => [id, { name: symbol, symbol, decimals }])
  const made: Record<string, unknown> = {
    'till:networks': Object.fromEntries(networks),
    'till:tokens': Object.fromEntries(tokens),
    'till:coins': Object.fromEntries(coins),
    'till:api': { takesWalletProof: 'proof' in (api.components.schemas.BindWalletRequest?.properties ?? {}) },
  }
  return {
    name: 'till-tables',
    resolveId: (id) => (id in made ? `\0${id}` : null),
    load: (id) => {
      const table = made[id.replace('\0', '')]
      return table ? `export default ${JSON.stringify(table)}` : null
    },
  }
}

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

/**
 * Finishes index.html once everything is written. Every page lies one level below the page's folder (`i/…`, `l/…`,
 * `r/…`), so that is where its files are looked for from; and it says which bytes they have.
 */
function finish(): Plugin {
  return {
    name: 'till-finish',
    apply: 'build',
    writeBundle({ dir }) {
      const page = `${dir}/index.html`
      const text = readFileSync(page, 'utf8').replace(/(src|href)="\.\/(assets\/[^"]+)"/g, (_, attribute: string, name: string) => {
        const hash = createHash('sha384').update(readFileSync(`${dir}/${name}`)).digest('base64')
        return `${attribute}="../${name}" integrity="sha384-${hash}"`
      })
      writeFileSync(page, text)
    },
  }
}

export default defineConfig({
  // The page finds its own files wherever it is put.
  base: './',
  cacheDir: '../node_modules/.vite',
  plugins: [tables(), words(), finish()],
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
