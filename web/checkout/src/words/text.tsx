// A word with parts in it: what stands between asterisks is bold, and every inserted value keeps its own
// direction inside a text that runs the other way.

import type { ComponentChildren } from 'preact'
import { asStart, template, type Word } from './words.ts'

export function Text({ word, ...values }: { word: Word } & Record<string, ComponentChildren>) {
  const pieces: ComponentChildren[] = []
  template(word)
    .split('*')
    .forEach((stretch, at) => {
      const filled = fill(stretch, values)
      pieces.push(at % 2 === 1 ? <b>{filled}</b> : filled)
    })
  return <>{pieces}</>
}

function fill(stretch: string, values: Record<string, ComponentChildren>): ComponentChildren[] {
  return stretch.split(/(\{\w+\})/).map((piece, at, all) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1]
    if (name === undefined) return piece
    // A shop without a name is called "the shop", which may have to begin a sentence.
    const isStart = at === 1 && all[0] === ''
    const value = values[name]
    return <bdi>{isStart && typeof value === 'string' ? asStart(value) : value}</bdi>
  })
}

