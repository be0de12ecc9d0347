/** The logo of the console, a basket. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg className="brand-mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <g fill="none" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round">
        <path d="M7.5 12.5h17l-1.7 10.3a2.6 2.6 0 0 1-2.6 2.2h-8.4a2.6 2.6 0 0 1-2.6-2.2z" />
        <path d="M11 12c0-3.4 2-5.5 5-5.5s5 2.1 5 5.5" />
        <path d="M8.8 17.5h14.4M13 13v12M19 13v12" strokeOpacity=".7" />
      </g>
    </svg>
  )
}
