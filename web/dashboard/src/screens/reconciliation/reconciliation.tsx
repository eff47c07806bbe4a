// Reconciliation: what the books, the networks and the invoices say of a period, and where they differ.

import { useState } from 'preact/hooks'
import type { Discrepancy, LedgerBalance, LedgerBalances, ReconciledAsset, Reconciliation } from '#shared/api/types.ts'
import { explorerLink } from '#shared/chain/networks.ts'
import { get, type Query, response } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { filter, href, usePlace } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Chart } from '../../parts/chart.tsx'
import { Card } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { grouped, Moment, Money, symbolOf } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { BooksHead } from './head.tsx'
import { asked, PeriodPicker, periodOf } from './period.tsx'

/** The page shows this many differences; the file has all. */
const SHOWN = 100

export default function ReconciliationScreen() {
  const { query } = usePlace()
  const wanted: Query = { ...asked(periodOf(query)), asset: query.get('asset') }
  const books = useData(async () => {
    const [report, balances] = await Promise.all([get<Reconciliation>('/reconciliation', wanted), get<LedgerBalances>('/reconciliation/balances', wanted)])
    return { report, balances }
  }, [JSON.stringify(wanted)])
  return (
    <>
      <BooksHead>
        <Action run={() => download(wanted)}>{t.reconciliation.download}</Action>
      </BooksHead>
      <PeriodPicker />
      <Loaded of={books}>
        {({ report, balances }) => (
          <>
            <p class="dim">
              <Moment at={report.from} /> – <Moment at={report.to} />
            </p>
            <Differences all={report.discrepancies} />
            {report.assets.length === 0 && balances.balances.length === 0 ? (
              <Card>
                <Empty glyph="scale" title={t.reconciliation.nothing} text={t.reconciliation.nothingText} />
              </Card>
            ) : (
              <>
                {report.assets.map((asset) => (
                  <Views key={asset.asset} asset={asset} />
                ))}
                <Balances balances={balances.balances} />
              </>
            )}
            {query.has('asset') && (
              <p>
                <button type="button" class="btn" onClick={() => filter({ asset: null })}>
                  {t.reconciliation.allAssets}
                </button>
              </p>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

/** Fetched whole before it is saved: a file that broke off on its way is not kept as if it were the report. */
async function download(wanted: Query): Promise<void> {
  const file = await (await response('/reconciliation/export', wanted)).blob()
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = `reconciliation${wanted.from ? `-${wanted.from}` : ''}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function Differences({ all }: { all: Discrepancy[] }) {
  const flagged = all.filter((one) => one.severity === 'flagged')
  const explained = all.filter((one) => one.severity !== 'flagged')
  return (
    <>
      {flagged.length === 0 ? (
        <Notice tone="ok" title={t.reconciliation.agree}>
          {explained.length > 0 ? t.reconciliation.agreeExplained(explained.length) : t.reconciliation.agreeText}
        </Notice>
      ) : (
        <Notice tone="bad" title={t.reconciliation.differ(flagged.length)}>
          {t.reconciliation.differText}
        </Notice>
      )}
      {flagged.length > 0 && (
        <Card title={t.reconciliation.flagged}>
          <DifferenceTable rows={flagged} label={t.reconciliation.flagged} />
        </Card>
      )}
      {explained.length > 0 && (
        <Card>
          <details>
            <summary>{t.reconciliation.explained(explained.length)}</summary>
            <DifferenceTable rows={explained} label={t.reconciliation.explainedLabel} />
          </details>
        </Card>
      )}
    </>
  )
}

function DifferenceTable({ rows, label }: { rows: Discrepancy[]; label: string }) {
  return (
    <div class="flush scroll" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.reconciliation.what}</th>
            <th scope="col" class="r">
              {t.reconciliation.amount}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map((row, at) => (
            <tr key={at}>
              <td>
                <Tag tone={row.severity === 'flagged' ? 'bad' : 'plain'} glyph={row.severity === 'flagged' ? 'alert' : 'check'}>
                  {t.reconciliation.kinds[row.kind] ?? row.kind}
                </Tag>
                <p class="dim">{row.detail}</p>
                {row.severity === 'flagged' && t.reconciliation.remedies[row.kind] && <p>{t.reconciliation.remedies[row.kind]}</p>}
                <Where row={row} />
              </td>
              <td class="r">{row.asset === null ? '' : <Money amount={row.amount} unit={symbolOf(row.asset)} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p class="hint more-in-file">{t.reconciliation.moreInFile(rows.length - SHOWN)}</p>}
    </div>
  )
}

function Where({ row }: { row: Discrepancy }) {
  const link = row.network && row.tx_hash ? explorerLink(row.network, row.tx_hash) : null
  return (
    <p>
      {row.invoice && (
        <a href={href(`/invoices/${row.invoice}`)}>
          <code>{row.invoice}</code>
        </a>
      )}{' '}
      {link && (
        <a href={link} target="_blank" rel="noreferrer">
          {t.reconciliation.transaction}
        </a>
      )}
      {!link && row.tx_hash && <code>{row.tx_hash}</code>}
    </p>
  )
}

const VIEWS = ['ledger', 'chain', 'invoices'] as const

/** The three views beside each other: the same money, counted three times by different hands. */
function Views({ asset }: { asset: ReconciledAsset }) {
  return (
    <Card title={t.accepts.one(symbolOf(asset.asset), networkNameOf(asset.asset))}>
      <div class="views flush">
        {VIEWS.map((view) => (
          <table key={view}>
            <caption>{t.reconciliation.views[view]}</caption>
            <tbody>
              {asset[view].map((figure) => (
                <tr key={figure.item}>
                  <th scope="row">{t.reconciliation.items[view][figure.item] ?? figure.item}</th>
                  <td class="r num">{grouped(figure.amount)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </Card>
  )
}

/** The groups of accounts at the end of the period, one currency at a time: they are never added up. */
function Balances({ balances }: { balances: LedgerBalance[] }) {
  const assets = [...new Set(balances.map((one) => one.asset))]
  const [chosen, setChosen] = useState<string | null>(null)
  const asset = chosen !== null && assets.includes(chosen) ? chosen : (assets[0] ?? null)
  if (asset === null) return null
  const rows = balances.filter((one) => one.asset === asset)
  const symbol = symbolOf(asset)
  const name = (account: string) => t.reconciliation.accounts[account] ?? account
  return (
    <Card title={t.reconciliation.balances}>
      {assets.length > 1 && (
        <div class="filters">
          {assets.map((one) => (
            <button key={one} type="button" class="chip set" aria-pressed={one === asset} onClick={() => setChosen(one)}>
              {t.accepts.one(symbolOf(one), networkNameOf(one))}
            </button>
          ))}
        </div>
      )}
      <Chart
        title={t.reconciliation.chart(symbol)}
        unit={symbol}
        of={t.reconciliation.account}
        points={rows.map((row) => ({ label: name(row.account), size: Math.max(0, Number(row.closing)), text: grouped(row.closing) }))}
      />
      <div class="flush scroll" tabIndex={0} role="region" aria-label={t.reconciliation.balances}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.reconciliation.account}</th>
              {(['opening', 'postings', 'closing', 'previous_period'] as const).map((column) => (
                <th key={column} scope="col" class="r">
                  {t.reconciliation.columns[column]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.account}>
                <td>{name(row.account)}</td>
                <td class="r num">{grouped(row.opening)}</td>
                <td class="r num">{grouped(row.postings)}</td>
                <td class="r num">
                  <b>{grouped(row.closing)}</b>
                </td>
                <td class="r num dim">{grouped(row.previous_period)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
