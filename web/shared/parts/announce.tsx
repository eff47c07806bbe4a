// What is said to people who do not see the page change. One region for news, one for warnings; both are
// there before anything is said, which screen readers need. What is said last is all that is true: the other region is
// emptied, so that nobody who reads on finds an old warning there.

import { useEffect, useState } from 'preact/hooks'

type Urgency = 'polite' | 'assertive'
let say: (text: string, urgency: Urgency) => void = () => {}

export const announce = (text: string, urgency: Urgency = 'polite') => say(text, urgency)

export function Announcements() {
  const [said, setSaid] = useState<Partial<Record<Urgency, string>>>({})
  useEffect(() => {
    say = (text, urgency) => setSaid({ [urgency]: text })
  }, [])
  return (
    <>
      <p class="sr" role="status">
        {said.polite}
      </p>
      <p class="sr" role="alert">
        {said.assertive}
      </p>
    </>
  )
}
