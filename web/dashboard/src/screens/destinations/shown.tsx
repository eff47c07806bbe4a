import { useEffect, useState } from 'preact/hooks'
import { Address, shortened } from '#shared/parts/address.tsx'
import { type Mode, usePlace } from '../../app/router.ts'
import { Notice } from '../../parts/notice.tsx'
import { setup } from '../../texts/setup.ts'
import { type FamilyName, type Read, readDestination } from './families.ts'

/** What is computed from a text: undefined while that is under way, null when it is no destination. */
export function useRead(family: FamilyName, text: string): Read | null | undefined {
  const mode: Mode = usePlace().mode ?? 'test'
  const [read, setRead] = useState<{ of: string; as: Read | null }>()
  useEffect(() => {
    let isOver = false
    void readDestination(family, mode, text).then((as) => {
      if (!isOver) setRead({ of: text, as })
    })
    return () => {
      isOver = true
    }
  }, [family, mode, text])
  return read?.of === text ? read.as : undefined
}

/** A destination that the server told of: shown when this page computed the same, and not at all otherwise. */
export function Destination({ family, said, isShort = false }: { family: FamilyName; said: string; isShort?: boolean }) {
  const read = useRead(family, said)
  if (read === undefined) return null
  if (read?.address !== said) return <Notice tone="bad" title={setup.destinations.untrue}>{setup.destinations.untrueText}</Notice>
  return isShort ? (
    <code class="mono" title={said}>
      {shortened(said)}
    </code>
  ) : (
    <Address address={said} />
  )
}
