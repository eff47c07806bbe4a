import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

/** Says in the page which bytes its script and style have (subresource integrity). */
function integrity(): Plugin {
  return {
    name: 'till-integrity',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = bundle['index.html']
      if (page?.type !== 'asset') throw new Error('no index.html was built')
      page.source = String(page.source).replace(/(?:src|href)="\.\/(assets\/[^"]+)"/g, (attribute, name: string) => {
        const file = bundle[name]
        if (!file) throw new Error(`index.html names ${name}, which was not built`)
        const bytes = file.type === 'chunk' ? file.code : file.source
        return `${attribute} integrity="sha384-${createHash('sha384').update(bytes).digest('base64')}"`
      })
    },
  }
}

export default defineConfig({
  // The page finds its own files wherever it is put.
  base: './',
  plugins: [tables(), integrity()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  test: { include: ['tests/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0])
