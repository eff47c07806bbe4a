// Links that fill in the form of the payer's wallet, and for those who want to know more of where they send: the token's
// contract.

import { familyOf } from '#shared/chain/networks.ts'
import { tokens } from '#shared/chain/tokens.ts'
import { baseUnits, shown } from '#shared/money.ts'
import { Icon } from '#shared/parts/icon.tsx'
import { Note } from '#shared/parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { CheckedWay } from './store.ts'

/** The part of an ERC-681 link that says what is sent, or null where nothing of the kind is agreed upon. */
function transfer(way: CheckedWay, amount: string): string | null {
  const token = tokens[way.asset]
  const units = token && baseUnits(amount, token.decimals)
  if (!token || !units || familyOf(way.network) !== 'evm') return null
  const chain = way.network.split(':')[1]
  return `${token.contract}@${chain}/transfer?address=${way.address}&uint256=${units}`
}

export function transferUri(way: CheckedWay, amount: string): string | null {
  const what = transfer(way, amount)
  return what && `ethereum:${what}`
}

/** What Trust Wallet calls the networks. */
const TRUST: Record<string, number> = {
  'eip155:1': 60,
  'eip155:56': 20000714,
  'eip155:137': 966,
  'eip155:8453': 8453,
  'eip155:42161': 10042221,
  'eip155:43114': 10009000,
  'tron:728126428': 195,
}

interface App {
  name: string
  href: string
}

/**
 * Wallets that have links of their own. Phones know which app opens `bitcoin:`; for tokens no kind of link is registered,
 * so that `ethereum:` opens whatever app came first, or none.
 */
export function apps(way: CheckedWay, amount: string): App[] {
  const found: App[] = []
  const what = transfer(way, amount)
  if (what) found.push({ name: 'MetaMask', href: `https://link.metamask.io/send/${what}` })
  const [coin, contract] = [TRUST[way.network], tokens[way.asset]?.contract]
  if (coin !== undefined && contract) {
    const href = `https://link.trustwallet.com/send?asset=c${coin}_t${contract}&address=${way.address}&amount=${shown(amount)}`
    found.push({ name: 'Trust Wallet', href })
  }
  return found
}

const Open = ({ href, children }: { href: string; children: string }) => (
  <a class="btn wide" href={href} rel="noopener noreferrer">
    <Icon name="out" />
    {children}
  </a>
)

/** On a phone: the wallets to choose from. */
export function Apps({ way, amount }: { way: CheckedWay; amount: string }) {
  const uri = transferUri(way, amount)
  return (
    <div class="stack">
      <Note tone="warn">{t('help.open_check')}</Note>
      {apps(way, amount).map(({ name, href }) => (
        <Open key={name} href={href}>
          {name}
        </Open>
      ))}
      {uri && <Open href={uri}>{t('help.other_app')}</Open>}
    </div>
  )
}

export function More({ way, amount, isTouch }: { way: CheckedWay; amount: string; isTouch: boolean }) {
  const uri = isTouch ? null : transferUri(way, amount)
  return (
    <div class="stack">
      <p class="small dim">
        <Text word="help.contract" symbol={way.symbol} />
        <br />
        <code class="ltr">{tokens[way.asset]?.contract}</code>
      </p>
      {uri && (
        <>
          <Note tone="warn">{t('help.open_check')}</Note>
          <Open href={uri}>{t('pay.open')}</Open>
        </>
      )}
    </div>
  )
}
