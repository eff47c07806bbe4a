import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
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
  tokens: { symbol: string; contract: string; decimals: number; offered: boolean }[]
}

/** What the page needs of the server's table of networks: one list for both. */
function tables(): Plugin {
  const list = (JSON.parse(read('../../crates/core/data/networks.json')) as { networks: TableNetwork[] }).networks
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
  const made: Record<string, unknown> = {
    'till:networks': Object.fromEntries(networks),
    'till:tokens': Object.fromEntries(tokens),
  }
  return {
    name: 'till-tables',
    resolveId: (id) => (id in made ? `\0${id}` : null),
    load: (id) => {
      const table = made[id.replace('\0', '')]
      return id.startsWith('\0till:') ? `export default ${JSON.stringify(table)}` : null
    },
  }
}

/** Says in the page which bytes its script and style have (subresource integrity), once they are written. */
function integrity(): Plugin {
  return {
    name: 'till-integrity',
    apply: 'build',
    writeBundle({ dir }) {
      const page = `${dir}/index.html`
      const text = readFileSync(page, 'utf8').replace(/(?:src|href)="\.\/(assets\/[^"]+)"/g, (attribute, name: string) => {
        const hash = createHash('sha384').update(readFileSync(`${dir}/${name}`)).digest('base64')
        return `${attribute} integrity="sha384-${hash}"`
      })
      writeFileSync(page, text)
    },
  }
}

export default defineConfig({
  // The page finds its own files wherever it is put.
  base: './',
  cacheDir: '../node_modules/.vite',
  plugins: [tables(), integrity()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Few files: all that a page begins with in one, and small parts that are wanted together in another.
        codeSplitting: {
          groups: [
            { name: 'page', tags: ['$initial'], priority: 3 },
            { name: 'base58', test: /@scure.base|hashes.(sha2|_md)|chain.tron/, priority: 2 },
            { name: 'help', test: /src.invoice.(email|lookup|exchange)|parts.field/, priority: 1 },
          ],
        },
      },
    },
  },
})
