import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import './fonts.ts'
import { App } from './App.tsx'
import { queryClient } from './live/queryClient.ts'
import { Boundary } from './parts/Boundary.tsx'
import { applyTheme, followDeviceTheme } from './shell/applyTheme.ts'

applyTheme()
followDeviceTheme()

const place = document.getElementById('console')
if (place !== null) {
  createRoot(place).render(
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Boundary>
          <App />
        </Boundary>
      </Router>
    </QueryClientProvider>,
  )
}
