// A screen that is fetched when it is opened.

import { Component, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Bones } from '../parts/loaded.tsx'
import { Notice } from '../parts/notice.tsx'
import { t } from '../texts/t.ts'

type Load = () => Promise<{ default: ComponentType<never> }>
const loaded = new Map<Load, ComponentType<never>>()

const Reload = () => (
  <button type="button" class="btn" onClick={() => location.reload()}>
    {t.shell.reload}
  </button>
)

export function Lazy({ load, props }: { load: Load; props: object }) {
  const [came, setCame] = useState<{ load: Load; screen: ComponentType<never> | null } | null>(null)
  const found = loaded.get(load) ?? (came?.load === load ? came.screen : undefined)
  useEffect(() => {
    if (loaded.has(load)) return
    load().then(
      (file) => {
        loaded.set(load, file.default)
        setCame({ load, screen: file.default })
      },
      () => setCame({ load, screen: null }),
    )
  }, [load])
  if (found === undefined) return <Bones />
  // An update of the server took its old files away: a new page knows the new ones.
  if (found === null) return <Notice tone="warn" title={t.shell.outdated} action={<Reload />} />
  const Found = found as ComponentType<object>
  return <Found {...props} />
}

/** Whatever goes wrong inside leaves words, and the menu around it. */
export class Caught extends Component<{ children: ComponentChildren; at: string }, { isBroken: boolean }> {
  override state = { isBroken: false }
  static override getDerivedStateFromError = () => ({ isBroken: true })
  override componentDidUpdate(before: { at: string }) {
    if (before.at !== this.props.at && this.state.isBroken) this.setState({ isBroken: false })
  }
  override render() {
    if (!this.state.isBroken) return this.props.children
    return (
      <Notice tone="bad" title={t.shell.broken} action={<Reload />}>
        {t.shell.brokenText}
      </Notice>
    )
  }
}
