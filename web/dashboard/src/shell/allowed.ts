import { may, session } from '../api/session.ts'
import type { Screen } from '../screens.ts'

/** Whether the signed-in person has this screen at all. */
export function isOpenTo(screen: Screen): boolean {
  if (screen.isOperators) return session()?.user.operator === true
  return screen.needs === undefined || may(screen.needs)
}
