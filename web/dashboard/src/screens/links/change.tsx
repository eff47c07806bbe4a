export { EditLinkScreen as default } from './edit.tsx'
