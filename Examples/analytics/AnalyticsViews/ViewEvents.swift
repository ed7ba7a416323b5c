public import RelayEvents

/// What people do in the window. Each level of the hierarchy names what happens below it: a context within a context.
public enum WindowEvent: Event, Equatable {
    case opened, closed
    case sidebar(SidebarEvent)
    case chart(ChartEvent, page: Int32)
}
public enum SidebarEvent: Sendable, Equatable {
    case selected(row: Int32)
    case search(SearchEvent)
}
public enum SearchEvent: Sendable, Equatable { case typed(length: Int32), cleared }
public enum ChartEvent: Sendable, Equatable { case zoomed(by: Double), exported }

/// The way up: a view publishes its own kind of event, and knows neither the window nor who listens.
public struct EventOutlet<Published: Sendable>: Sendable {
    private let send: @Sendable (Published) -> Void
    private init(_ send: @escaping @Sendable (Published) -> Void) { self.send = send }

    public func publish(_ event: Published) { send(event) }
    /// The outlet of a view below: what it publishes is wrapped in this level's context.
    public func nested<Inner: Sendable>(_ context: @escaping @Sendable (Inner) -> Published) -> EventOutlet<Inner> {
        EventOutlet<Inner> { send(context($0)) }
    }
}
extension EventOutlet where Published: Event {
    /// The topmost one.
    public init(_ publisher: EventPublisher) { self.init { publisher.publish($0) } }
}
