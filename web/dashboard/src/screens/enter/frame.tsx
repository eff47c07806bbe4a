import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Announcements } from '#shared/parts/announce.tsx'
import { t } from '../../texts/t.ts'

/** A page without a menu: getting in. */
export function EnterFrame({ title, text, children }: { title: string; text?: ComponentChildren; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${t.product}`
    heading.current?.focus()
  }, [title])
  return (
    <div class="dash entry">
      <main>
        <Announcements />
        <p class="org">
          <i class="mark" aria-hidden="true">
            T
          </i>
          <span>{t.product}</span>
        </p>
        <section class="card">
          <div class="stack">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {text && <p class="dim">{text}</p>}
            {children}
          </div>
        </section>
      </main>
    </div>
  )
}
