import { Component, type ComponentType, createElement, type ErrorInfo, type ReactNode } from 'react'

interface BoundaryProps {
  /** The boundary shows its children again when this value changes. */
  getResetKey(): unknown
  errorComponent?: ComponentType<{ error: unknown; reset(): void }>
  onCatch?(error: unknown, info: ErrorInfo): void
  children: ReactNode
}

interface BoundaryState {
  failure?: { error: unknown } | undefined
  resetKey?: unknown
}

/**
 * Shows an error instead of the page that threw it. The build uses this instead of the router's own boundary, which
 * includes its own error page.
 */
export class CatchBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = {}

  static getDerivedStateFromProps({ getResetKey }: BoundaryProps, state: BoundaryState): BoundaryState {
    const resetKey = getResetKey()
    return state.failure && state.resetKey !== resetKey ? { resetKey, failure: undefined } : { resetKey }
  }

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { failure: { error } }
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    this.props.onCatch?.(error, info)
  }

  override render(): ReactNode {
    const { failure } = this.state
    const { errorComponent, children } = this.props
    if (!failure) return children
    const { error } = failure
    if (!errorComponent) return createElement('p', { role: 'alert' }, String(error))
    return createElement(errorComponent, { error, reset: () => this.setState({ failure: undefined }) })
  }
}
