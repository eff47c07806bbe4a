// Events of an invoice as they happen. The browser's EventSource cannot say the mode and the organisation, so the stream is
// read with fetch.

import { Refused } from '#shared/api/ask.ts'
import { response } from './client.ts'

const AGAIN_MS = 3_000

/** The `data` of each event, from the beginning; connects again until it is stopped. */
export function follow(path: string, heard: (data: unknown) => void): () => void {
  const ending = new AbortController()
  const read = async () => {
    const answer = await response(path, {}, {}, ending.signal)
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
      if (done) return
      const blocks = (rest + value).split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = block
          .split(/\r?\n/)
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trimStart())
        if (data.length > 0) heard(JSON.parse(data.join('\n')))
      }
    }
  }
  const go = async () => {
    while (!ending.signal.aborted) {
      const lost = await read().catch((error: unknown) => error)
      // What is not there, or not for this person, does not come by asking again.
      if (lost instanceof Refused && lost.isMissing) return
      await new Promise((resumed) => setTimeout(resumed, AGAIN_MS))
    }
  }
  void go()
  return () => ending.abort()
}
