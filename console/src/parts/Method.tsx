/** An HTTP method, coloured by kind. */
export function Method({ method }: { method: string }) {
  return (
    <span className="method" data-method={method.toUpperCase()}>
      {method}
    </span>
  )
}
