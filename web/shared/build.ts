// What both builds need: the repository's own tables as modules, and pages that say which bytes their files have.

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Plugin } from 'vite'

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
export function tables(): Plugin {
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

/** Finishes index.html once everything is written: where its files are looked for from, and which bytes they have. */
export function finish(from: string): Plugin {
  return {
    name: 'till-finish',
    apply: 'build',
    writeBundle({ dir }) {
      const page = `${dir}/index.html`
      const text = readFileSync(page, 'utf8').replace(/(src|href)="\.\/(assets\/[^"]+)"/g, (_, attribute: string, name: string) => {
        const hash = createHash('sha384').update(readFileSync(`${dir}/${name}`)).digest('base64')
        return `${attribute}="${from}${name}" integrity="sha384-${hash}"`
      })
      writeFileSync(page, text)
    },
  }
}
