import { Button } from '../parts/Button.tsx'
import { bytes } from '../words/format.ts'
import { download } from './download.ts'
import type { Part } from './multipart.ts'

/** The parts of a multipart body: short texts are shown, others can be saved. */
export function Parts({ parts }: { parts: readonly Part[] }) {
  return (
    <ul className="body-parts">
      {parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts may repeat, and never move
        <li key={at}>
          <p>
            <b>{part.name || '(no name)'}</b>
            {part.filename !== null && <code>{part.filename}</code>}
            <span className="hint">
              {part.type ?? 'text'}, {bytes(part.content.length)}
            </span>
            <Button look="small" onClick={() => download(part.content, part.filename ?? part.name)}>
              Save
            </Button>
          </p>
          {part.text !== null && <pre>{part.text}</pre>}
        </li>
      ))}
    </ul>
  )
}
