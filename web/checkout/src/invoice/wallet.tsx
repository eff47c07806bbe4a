// Paying from a wallet in the browser, straight to the merchant's own destination.

import served from 'till:api'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import { post, segment } from '../api/client.ts'
import { type Binding, binding as readBinding } from '../api/asked.ts'
import type { Invoice } from '../api/shapes.ts'
import { familyOf, networkName } from '#shared/chain/networks.ts'
import { usePage } from '../page.tsx'
import { shortened } from '#shared/parts/address.tsx'
import { Icon } from '#shared/parts/icon.tsx'
import { Note } from '#shared/parts/state.tsx'
import { trouble } from '../trouble.ts'
import { isHonest, suffixLength } from '../wallets/binding.ts'
import { discover, type Provider, type Wallet as Found } from '../wallets/discover.ts'
import { connect, isChosen, isChain, prove, transfer, WalletTrouble } from '../wallets/send.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { CheckedWay } from './store.ts'

const REFUSALS = {
  wallet_binding_limit: 'help.wallet_limit',
  unique_amount_unavailable: 'help.wallet_unfit',
  wallet_unsupported: 'help.wallet_unfit',
  sender_invalid: 'help.wallet_unfit',
  parameter_invalid: 'help.wallet_unfit',
  feature_unavailable: 'help.wallet_unfit',
} as const

interface Wallet {
  invoice: Invoice
  way: CheckedWay
  shop: string
  /** Tells the amount block above what this wallet must send. */
  bound: (amount: { amount: string; suffix: number } | null) => void
  /** The server asked for something else than it should have. */
  distrust: () => void
  leave: () => void
}

type Progress =
  | { at: 'choose' }
  | { at: 'asking' }
  | { at: 'bound'; wallet: Found; binding: Binding }
  | { at: 'sending' }
  | { at: 'sent' }

export function Wallet({ invoice, way, shop, bound, distrust, leave }: Wallet) {
  const { api, config } = usePage()
  const [wallets, setWallets] = useState<Found[] | null>(null)
  const [progress, setProgress] = useState<Progress>({ at: 'choose' })
  const [problem, setProblem] = useState<string | null>(null)
  const family = familyOf(way.network) === 'tron' ? 'tron' : 'evm'

  useEffect(() => discover(family, setWallets), [family])
  /** Stops listening to the wallet. */
  const deafen = useRef(() => {})
  /** Another account in the wallet is another sender, and another network another token: it is bound anew. */
  const listen = (wallet: Found, sender: string) => {
    const provider: Provider = wallet.provider
    const moved = () => explain(new WalletTrouble('account'))
    const accounts = (now: unknown) => !isChosen(now, sender) && moved()
    const chain = (now: unknown) => !isChain(now, way.network) && moved()
    provider.on?.('accountsChanged', accounts)
    provider.on?.('chainChanged', chain)
    deafen.current = () => {
      provider.removeListener?.('accountsChanged', accounts)
      provider.removeListener?.('chainChanged', chain)
    }
  }
  useEffect(
    () => () => {
      deafen.current()
      bound(null)
    },
    [],
  )

  /** Counts the tries: what an earlier one still brings is not gone on with. */
  const tries = useRef(0)
  const restart = () => {
    tries.current += 1
    deafen.current()
    bound(null)
    setProgress({ at: 'choose' })
  }
  const explain = (error: unknown) => {
    restart()
    if (!(error instanceof WalletTrouble)) return setProblem(trouble(error, REFUSALS))
    const network = networkName(way.network, way.network_name)
    const words = {
      declined: t('help.declined'),
      network: t('help.switch', { network }),
      account: t('help.other_account'),
      unfit: t('help.wallet_unfit'),
      error: t('help.wallet_error'),
    }
    setProblem(words[error.why])
  }
  const send = async (wallet: Found, binding: Binding) => {
    // From here on the wallet knows what it is asked, and from whom.
    deafen.current()
    setProgress({ at: 'sending' })
    await transfer(wallet, binding)
    setProgress({ at: 'sent' })
  }
  /** A contract's signature is not its own key's: such a wallet is bound without one, where the server lets it. */
  const bind = async (sender: string, proof: string | null): Promise<Binding> => {
    const path = `/v1/checkout/invoices/${segment(invoice.id)}/wallet_binding`
    const body = { asset: way.asset, sender }
    if (proof === null) return post(api, path, body, readBinding)
    return post(api, path, { ...body, proof }, readBinding).catch((error) => {
      if (error instanceof Refused && error.code === 'sender_invalid') return bind(sender, null)
      throw error
    })
  }
  const start = async (wallet: Found) => {
    const mine = ++tries.current
    setProblem(null)
    setProgress({ at: 'asking' })
    try {
      const sender = await connect(wallet, way.network)
      if (mine !== tries.current) return
      listen(wallet, sender)
      const proof = served.takesWalletProof ? await prove(wallet, invoice.id, way.asset, sender) : null
      if (mine !== tries.current) return
      const answer = await bind(sender, proof)
      if (mine !== tries.current) return
      const asked = { asset: way.asset, network: way.network, amount: way.amount_due, sender }
      if (!isHonest(answer, asked, config)) return distrust()
      // Wallets want to be called by the name they gave.
      const binding = { ...answer, sender }
      const suffix = suffixLength(binding.amount, way.amount_due)
      bound({ amount: binding.amount, suffix })
      // Digits that must not be edited are shown before the wallet opens.
      if (suffix > 0) setProgress({ at: 'bound', wallet, binding })
      else await send(wallet, binding)
    } catch (error) {
      if (mine === tries.current) explain(error)
    }
  }
  const confirm = async (wallet: Found, binding: Binding) => {
    try {
      await send(wallet, binding)
    } catch (error) {
      explain(error)
    }
  }

  if (wallets === null) return <div class="stack" aria-busy="true" />
  if (wallets.length === 0) {
    return (
      <div class="stack">
        <Note tone="plain">{t('help.no_wallet')}</Note>
        <button type="button" class="btn wide" onClick={leave}>
          {t('help.use_address')}
        </button>
      </div>
    )
  }
  return (
    <div class="stack">
      {progress.at === 'bound' && <Note tone="warn">{t('help.keep_amount')}</Note>}
      <div role="status">
        {(progress.at === 'asking' || progress.at === 'sending') && (
          <Note tone="info" glyph="clock">
            {t('help.confirm')}
          </Note>
        )}
        {progress.at === 'sent' && (
          <Note tone="info" glyph="seen">
            {t('help.wallet_sent')}
          </Note>
        )}
      </div>
      {problem && (
        <div role="alert">
          <Note tone="warn">{problem}</Note>
        </div>
      )}
      {progress.at === 'bound' && (
        <button type="button" class="btn wide primary" onClick={() => confirm(progress.wallet, progress.binding)}>
          <Named wallet={progress.wallet} />
        </button>
      )}
      {progress.at === 'bound' && (
        <button type="button" class="btn wide" onClick={restart}>
          {t('help.another_wallet')}
        </button>
      )}
      {progress.at === 'choose' &&
        wallets.map((wallet, at) => (
          <button type="button" key={wallet.id} class={`btn wide ${at === 0 ? 'primary' : ''}`} onClick={() => start(wallet)}>
            <Named wallet={wallet} />
          </button>
        ))}
      {progress.at === 'choose' && served.takesWalletProof && <p class="small dim">{t('help.sign_first')}</p>}
      <p class="checked">
        <Icon name="shield" />
        <span>
          <Text word="help.straight" address={<code class="ltr">{shortened(way.destination)}</code>} shop={shop} />
        </span>
      </p>
    </div>
  )
}

function Named({ wallet }: { wallet: Found }) {
  return (
    <>
      {wallet.icon && <img src={wallet.icon} alt="" />}
      <span>
        <Text word="help.pay_with" wallet={wallet.name} />
      </span>
    </>
  )
}
