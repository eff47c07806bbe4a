// Lists: a plain table that opens by row, filters in the address, pages by cursor.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Page } from '../api/data.ts'
import { filter, href, usePlace } from '../app/router.ts'
import { t } from '../texts/t.ts'
import { type Glyph, Icon } from './icon.tsx'
import { Empty, Loaded } from './loaded.tsx'

export interface Column<T> {
  head: string
  cell: (row: T) => ComponentChildren
  /** Amounts and times stand at the end. */
  isEnd?: boolean
  /** Left out on phones. */
  isWide?: boolean
  /** Long texts are cut with dots. */
  isClipped?: boolean
}

interface Props<T> {
  page: Page<T>
  columns: Column<T>[]
  /** What the table is a list of. */
  label: string
  idOf: (row: T) => string
  /** Where a row leads; the link is in the first column. */
  to?: (row: T) => string
  empty: { glyph: Glyph; title: string; text?: string; action?: ComponentChildren }
}

/** On phones the first two columns are the first line of a row, the others its second. */
export function DataList<T>({ page, columns, label, idOf, to, empty }: Props<T>) {
  const { query } = usePlace()
  const classes = (column: Column<T>) => [column.isEnd && 'r', column.isWide && 'hide', column.isClipped && 'clip'].filter(Boolean).join(' ')
  return (
    <Loaded of={page}>
      {({ data, next_cursor }) =>
        data.length === 0 && next_cursor === null && !query.has('cursor') ? (
          <section class="card">
            {page.isFiltered ? (
              <Empty
                glyph="find"
                title={t.list.noMatch}
                action={
                  <a class="btn" href={location.pathname}>
                    {t.list.clear}
                  </a>
                }
              />
            ) : (
              <Empty {...empty} />
            )}
          </section>
        ) : (
          <section class="card">
            <div class="flush scroll">
              <table class="list-table" aria-label={label}>
                <thead>
                  <tr>
                    {columns.map((column) => (
                      <th key={column.head} scope="col" class={classes(column)}>
                        {column.head}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.map((row) => (
                    <tr key={idOf(row)} data-row={to ? '' : undefined}>
                      {columns.map((column, at) => (
                        <td key={column.head} class={classes(column)}>
                          {at === 0 && to ? (
                            <a class="cover" href={href(to(row))}>
                              {column.cell(row)}
                            </a>
                          ) : (
                            column.cell(row)
                          )}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <div class="row pager">
              <span class="dim">
                {t.list.order}
                {to && (
                  <span class="keys">
                    . <kbd>j</kbd> <kbd>k</kbd> {t.list.keys} <kbd>Enter</kbd> {t.list.open}
                  </span>
                )}
              </span>
              {query.has('cursor') && (
                <button type="button" class="btn" onClick={() => filter({ cursor: null })}>
                  {t.common.newest}
                </button>
              )}
              {next_cursor !== null && (
                <button type="button" class="btn" onClick={() => filter({ cursor: next_cursor })}>
                  {t.common.older}
                  <Icon name="right" />
                </button>
              )}
            </div>
          </section>
        )
      }
    </Loaded>
  )
}

/** The line above a list: one field to search by, then the other filters. */
export const Filters = ({ children }: { children: ComponentChildren }) => <div class="filters">{children}</div>

/** A filter by text: applied on Enter, or when the field is left. */
export function SearchFilter({ name, label }: { name: string; label: string }) {
  const { query } = usePlace()
  const set = (value: string) => {
    if (value.trim() !== (query.get(name) ?? '')) filter({ [name]: value.trim() })
  }
  return (
    <form
      class="search field"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        set(new FormData(event.currentTarget).get(name) as string)
      }}
    >
      <Icon name="find" />
      <input key={query.get(name)} name={name} type="search" placeholder={label} aria-label={label} defaultValue={query.get(name) ?? ''} onBlur={(event) => set(event.currentTarget.value)} data-find />
    </form>
  )
}

/** A filter by one of a few values: a native list that looks like a chip. */
export function ChoiceFilter({ name, label, options }: { name: string; label: string; options: readonly (readonly [value: string, label: string])[] }) {
  const { query } = usePlace()
  const value = query.get(name)
  const id = useId()
  return (
    <span class={`chip ${value === null ? '' : 'set'}`}>
      {value === null && <Icon name="plus" />}
      <label class="sr" for={id}>
        {label}
      </label>
      <select id={id} value={value ?? ''} onChange={(event) => filter({ [name]: event.currentTarget.value || null })}>
        <option value="">{label}</option>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {value !== null && (
        <button type="button" aria-label={t.list.remove(label)} onClick={() => filter({ [name]: null })}>
          <Icon name="cross" />
        </button>
      )}
    </span>
  )
}

/** A filter by a day of UTC: a native calendar that looks like a chip. */
export function DayFilter({ name, label }: { name: string; label: string }) {
  const { query } = usePlace()
  const value = query.get(name)
  const id = useId()
  return (
    <span class={`chip ${value === null ? '' : 'set'}`}>
      <label for={id}>{label}</label>
      <input id={id} type="date" value={value ?? ''} onChange={(event) => filter({ [name]: event.currentTarget.value || null })} />
      {value !== null && (
        <button type="button" aria-label={t.list.remove(label)} onClick={() => filter({ [name]: null })}>
          <Icon name="cross" />
        </button>
      )}
    </span>
  )
}

/** Tabs are links: each is an address. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly { to: string; label: string }[] }) {
  const { path, query } = usePlace()
  const here = (to: string) => {
    const [at, search = ''] = to.split('?')
    return at === path && [...new URLSearchParams(search)].every(([name, value]) => query.get(name) === value)
  }
  const best = tabs.filter((tab) => here(tab.to)).sort((a, b) => b.to.length - a.to.length)[0]
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.to} href={href(tab.to)} aria-current={tab === best ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}
