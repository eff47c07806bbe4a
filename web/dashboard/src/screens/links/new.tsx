export { NewLinkScreen as default } from './edit.tsx'
