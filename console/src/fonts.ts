import sans from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with { type: 'file' }
import mono from '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2' with {
  type: 'file',
}

// Not in the style sheet: the bundler would inline them, and the first paint would wait for them.
for (const [family, url] of [
  ['Inter', sans],
  ['JetBrains Mono', mono],
] as const) {
  document.fonts.add(new FontFace(family, `url(${url})`, { weight: '100 900', display: 'swap' }))
}
