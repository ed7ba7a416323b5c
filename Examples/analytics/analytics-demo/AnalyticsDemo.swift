import Analytics
import AnalyticsDesk
import AnalyticsViews
import RelayCore

/// A window, its reporter, and the service that counts; the service in the same process here, on the bus.
@main @MainActor struct AnalyticsDemo: RelayProgram {
    static func run() async throws {
        let service = try EventService(name: "org.example.Analytics", exporting: Analytics1.self)
        let counter = UseCounter(service)
        try await service.start()
        let relay = try EventRelay(following: "org.example.Analytics", interfaces: Analytics1.self)
        relay.activate()
        let counted = relay.publisher.events(of: UseCounted.self)
        try await relay.ready()

        let publisher = EventPublisher()
        do {
            let reporter = UseReporter(publisher, to: relay) { print("not counted: \($0)") }
            let window = Window(pages: 2, EventOutlet(publisher))
            window.sidebar.search.type("pan")
            window.charts[1].pinch(1.5)
            window.charts[1].pinch(0.5)
            window.close()
            var left = 5
            for await case .event(let event, _) in counted {
                print("\(event.what): \(event.count)")
                left -= 1
                if left == 0 { break }
            }
            // The last event can come before the answer to the command that caused it.
            await reporter.finish()
        }
        // No window is open, so nobody listens: the same views publish into nothing.
        Window(pages: 1, EventOutlet(publisher)).close()
        relay.invalidate()
        try await service.stop()
        withExtendedLifetime(counter) {}
    }
}
