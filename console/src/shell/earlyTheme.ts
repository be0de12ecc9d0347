// A separate script, run before the first paint.
import { applyTheme } from './applyTheme.ts'

applyTheme()
