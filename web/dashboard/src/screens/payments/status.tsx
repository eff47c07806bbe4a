import { explorerLink, networkName } from '#shared/chain/networks.ts'
import { shortened } from '#shared/parts/address.tsx'
import type { Glyph } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { t } from '../../texts/t.ts'

const PAYMENT: Record<string, [Tone, Glyph]> = {
  pending: ['plain', 'clock'],
  confirming: ['info', 'half'],
  credited: ['ok', 'check'],
  held: ['warn', 'eye'],
  refundable: ['warn', 'back'],
  reversed: ['bad', 'cross'],
}

export function PaymentStatus({ status }: { status: string }) {
  const [tone, glyph] = PAYMENT[status] ?? ['plain', 'minus']
  return (
    <Tag tone={tone} glyph={glyph}>
      {t.payments.statuses[status] ?? status}
    </Tag>
  )
}

/** How settled the network says it is. */
export const finality = (level: string) => t.payments.finality[level] ?? level

export const onNetwork = (network: string) => t.invoices.on(networkName(network, network))

/** Who sent it: enough to recognise, never an address to pay to. */
export function Sender({ from }: { from: string | null }) {
  return from === null ? <span class="dim">{t.payments.unknownSender}</span> : <code title={from}>{shortened(from)}</code>
}

/** The transaction, at the network's explorer where it has one. Simulated ones are at none. */
export function Transaction({ network, hash, isLink = true }: { network: string; hash: string; isLink?: boolean }) {
  const link = isLink ? explorerLink(network, hash) : null
  const text = <code title={hash}>{shortened(hash)}</code>
  return link === null ? (
    text
  ) : (
    <a href={link} target="_blank" rel="noopener noreferrer" aria-label={t.payments.transaction(shortened(hash))}>
      {text}
    </a>
  )
}
