// A script of its own, run before anything is painted.
import { applyTheme } from './applyTheme.ts'

applyTheme()
