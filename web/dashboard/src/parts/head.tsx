import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { href } from '../app/router.ts'
import { t } from '../texts/t.ts'

interface Props {
  title: string
  /** What stands in the heading besides its words, such as a status. */
  beside?: ComponentChildren
  /** The list this page belongs to. */
  up?: { to: string; label: string }
  /** Buttons at the end; the filled one last. */
  children?: ComponentChildren
}

/** The head of a screen. Its heading takes the focus, so that whoever does not see the page hears where they are. */
export function Head({ title, beside, up, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${t.product}`
  }, [title])
  useEffect(() => {
    const active = document.activeElement
    if (active === null || active === document.body || active.closest('nav')) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header class="head">
      <div class="titles">
        {up && (
          <a class="small dim" href={href(up.to)}>
            {up.label}
          </a>
        )}
        <h1 ref={heading} tabIndex={-1}>
          {title} {beside}
        </h1>
      </div>
      {children}
    </header>
  )
}

/** A part of a screen with its caption. */
export function Card({ title, beside, children, class: className = '' }: { title?: string; beside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`card ${className}`}>
      {title !== undefined && (
        <h2 class="cap">
          {title}
          {beside}
        </h2>
      )}
      {children}
    </section>
  )
}
