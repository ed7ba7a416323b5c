import AnalyticsViews
public import RelayCore

/// What people do in one window is sent to the service, in order, as long as this lives. The application owns it, and releases
/// it with the window.
public final class UseReporter: Sendable {
    private let events: EventStream<WindowEvent>
    private let sending: Task<Void, Never>

    /// - Parameter onTrouble: is called with what the service will not have counted.
    public init(_ publisher: EventPublisher, to relay: EventRelay, onTrouble: @escaping @Sendable (String) -> Void) {
        let events = publisher.events(of: WindowEvent.self)
        self.events = events
        sending = Task {
            for await delivery in events {
                switch delivery {
                case .event(let event, _):
                    if case .failed(let error) = await relay.outcome(of: NoteUse(what: Self.what(event))) {
                        onTrouble(error.message)
                    }
                case .gap(let gap): onTrouble("\(gap)")
                }
            }
        }
    }
    deinit { events.cancel() }

    /// Takes no more events, and returns when the service has answered for the one that it is sending.
    public func finish() async {
        events.cancel()
        await sending.value
    }

    /// `chart.zoomed`: the way through the contexts, without their values. What somebody typed is nobody's business.
    static func what(_ event: WindowEvent) -> String {
        switch event {
        case .opened: "opened"
        case .closed: "closed"
        case .sidebar(.selected): "sidebar.selected"
        case .sidebar(.search(.typed)): "sidebar.search.typed"
        case .sidebar(.search(.cleared)): "sidebar.search.cleared"
        case .chart(.zoomed, _): "chart.zoomed"
        case .chart(.exported, _): "chart.exported"
        }
    }
}
