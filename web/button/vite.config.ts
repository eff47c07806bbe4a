import { defineConfig } from 'vite'

// One file that any page can include.
export default defineConfig({
  cacheDir: '../node_modules/.vite',
  build: {
    target: 'es2022',
    outDir: '../dist/button',
    emptyOutDir: true,
    reportCompressedSize: false,
    lib: { entry: 'src/button.ts', formats: ['es'], fileName: () => 'till-button.js' },
  },
})
