// Which page was asked for. Only the end of the path counts: the page does not know where it was put.

export type Route =
  | { page: 'invoice'; id: string }
  | { page: 'link'; slug: string }
  | { page: 'refund'; token: string }
  | { page: 'none' }

export function route(path: string): Route {
  const match = /\/([ilr])\/([A-Za-z0-9_-]{1,200})\/?$/.exec(path)
  const [, kind, id] = match ?? []
  if (id === undefined) return { page: 'none' }
  if (kind === 'i') return { page: 'invoice', id }
  return kind === 'l' ? { page: 'link', slug: id } : { page: 'refund', token: id }
}
