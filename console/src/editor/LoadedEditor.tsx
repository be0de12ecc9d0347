import { useEffect, useRef, useState } from 'react'
import { type Mark, openEditor } from './codeMirror.ts'
import type { Schema } from './jsonSchema.ts'

export interface EditorProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly label: string
  readonly language?: 'json' | 'text'
  readonly marks?: readonly Mark[]
  readonly schema?: Schema | undefined
  readonly paths?: readonly string[]
  /** ⌘S */
  readonly onSave?: () => void
  /** ⌘↵ */
  readonly onRun?: () => void
}

const NO_MARKS: readonly Mark[] = []
const NO_PATHS: readonly string[] = []

/** The editor, in a shadow root: the page's policy keeps styles that scripts write out of the page itself. */
export function LoadedEditor(props: EditorProps) {
  const { value, label, language = 'json', marks = NO_MARKS } = props
  const place = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<ReturnType<typeof openEditor>>()
  /** Texts that the editor has reported and that have not come back as `value`. */
  const said = useRef<string[]>([])
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    const host = place.current
    if (host === null) return undefined
    said.current = []
    const made = openEditor({
      parent: host.shadowRoot ?? host.attachShadow({ mode: 'open' }),
      text: latest.current.value,
      label,
      language,
      onChange: (text) => {
        said.current.push(text)
        latest.current.onChange(text)
      },
      onSave: () => latest.current.onSave?.(),
      onRun: () => latest.current.onRun?.(),
      completes: () => ({ schema: latest.current.schema, paths: latest.current.paths ?? NO_PATHS }),
    })
    setEditor(made)
    return () => made.destroy()
  }, [label, language])
  useEffect(() => {
    if (editor === undefined) return
    // Typed text comes back as `value` after the next render. More may have been typed by then and must not be undone.
    const echo = said.current.lastIndexOf(value)
    if (echo >= 0) {
      said.current.splice(0, echo + 1)
      return
    }
    editor.setText(value)
    said.current = []
  }, [editor, value])
  useEffect(() => editor?.setMarks(marks), [editor, marks])
  return <div ref={place} className="code-editor" />
}
