import { lazyPart } from '../parts/Boundary.tsx'
import type { Mark } from './codeMirror.ts'
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

/** Code editor that is loaded when the first one is shown. Until then the text is shown read-only. */
export const CodeEditor = lazyPart(
  async () => (await import('./LoadedEditor.tsx')).LoadedEditor,
  ({ value }: EditorProps) => (
    <div className="code-editor">
      <pre>{value}</pre>
    </div>
  ),
)
