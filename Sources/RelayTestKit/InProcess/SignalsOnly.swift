package import RelayCore

/// A transport that nobody has: what remains are signals.
package final class SignalsOnly: DirectTransport {
    private final class NoInlet: DirectInlet, Sendable {
        var epoch: UInt64? { nil }
        var isOpening: Bool { false }
        var isParked: Bool { false }
        var reportsLoss: Bool { false }
        func rules(for names: NameScope, _ stream: StreamAddress) -> [MatchRule] { [] }
        func open(_ stream: StreamController, _ session: SessionController) { stream.inletRefused(session) }
        func schemasArrived(_ stream: StreamController, _ session: SessionController) {}
        func close(_ stream: StreamController, _ session: SessionController) {}
        func forget(isNewOwner: Bool) {}
        func drain(through last: UInt64, _ stream: StreamController, _ session: SessionController) {}
        func drainOrPark(most limit: Int, _ stream: StreamController, _ session: SessionController) {}
    }
    package init() {}
    package func inlet(of interface: String) -> any DirectInlet { NoInlet() }
    package func forgetOwner() {}
}
