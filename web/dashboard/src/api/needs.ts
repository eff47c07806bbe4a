// What waits for a person, as the menu counts it. Asked for when somebody goes to another page, never by a clock: a page
// that nobody looks at must not keep its session alive.

import { useEffect } from 'preact/hooks'
import type { Home, HomeNeed } from '#shared/api/types.ts'
import { usePlace } from '../app/router.ts'
import { store } from '../app/store.ts'
import { get } from './client.ts'
import { may, useOrganization } from './session.ts'

export const needs = store<HomeNeed[]>([])

/** Which screen each kind is dealt with on. */
const AT: Record<string, string> = {
  review_open: '/reviews',
  refund_ready_to_send: '/refunds',
  refund_in_review: '/refunds',
  webhook_failing: '/developers',
  key_exposed: '/developers',
  change_pending: '/destinations',
  unattributed_deposit: '/payments',
}

/** How much waits on a screen; Home counts the kinds, as its list shows them. */
export function countAt(path: string, all: HomeNeed[]): number {
  if (path === '/') return all.length
  return all.filter((need) => AT[need.kind] === path).reduce((sum, need) => sum + need.count, 0)
}

const REST_MS = 15_000

/** Once, around all screens. */
export function useNeeds(): void {
  const { mode, path } = usePlace()
  const account = useOrganization()?.id
  useEffect(() => needs.set([]), [mode, account])
  useEffect(() => {
    // Home asks for itself.
    if (path === '/' || !may('read') || (asked.what === `${mode} ${account}` && Date.now() - asked.at < REST_MS)) return
    asked = { what: `${mode} ${account}`, at: Date.now() }
    get<Home>('/dashboard/home', { days: 1 }, { isEntering: true }).then(
      (home) => needs.set(home.needs_you),
      () => {},
    )
  }, [mode, account, path])
}

let asked = { what: '', at: 0 }
