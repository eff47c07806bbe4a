// For those who want to know more of where they send: the token's contract, and a link that fills in the
// wallet's form. The link is no first choice, since wallets differ in what they take from it.

import { familyOf } from '../chain/networks.ts'
import { tokens } from '../chain/tokens.ts'
import { baseUnits } from '../money.ts'
import { Icon } from '../parts/icon.tsx'
import { Note } from '../parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { CheckedWay } from './store.ts'

/** ERC-681, or null where nothing of the kind is agreed upon. */
export function transferUri(way: CheckedWay, amount: string): string | null {
  const token = tokens[way.asset]
  const units = token && baseUnits(amount, token.decimals)
  if (!token || !units || familyOf(way.network) !== 'evm') return null
  const chain = way.network.split(':')[1]
  return `ethereum:${token.contract}@${chain}/transfer?address=${way.address}&uint256=${units}`
}

export function More({ way, amount }: { way: CheckedWay; amount: string }) {
  const uri = transferUri(way, amount)
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
          <a class="btn wide" href={uri}>
            <Icon name="out" />
            {t('pay.open')}
          </a>
        </>
      )}
    </div>
  )
}
