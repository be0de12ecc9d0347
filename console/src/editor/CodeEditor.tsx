import { lazyPart } from '../parts/Boundary.tsx'
import type { EditorProps } from './LoadedEditor.tsx'

/** Code editor that is loaded when the first one is shown. Until then the text is shown read-only. */
export const CodeEditor = lazyPart(
  async () => (await import('./LoadedEditor.tsx')).LoadedEditor,
  ({ value }: EditorProps) => (
    <div className="code-editor">
      <pre>{value}</pre>
    </div>
  ),
)
