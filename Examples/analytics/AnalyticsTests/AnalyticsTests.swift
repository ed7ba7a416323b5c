import AnalyticsDesk
import AnalyticsViews
import RelayCore
import RelayTestKit
import Synchronization
import Testing

@testable import Analytics

@MainActor @Suite("View events, upwards only") struct AnalyticsTests {
    @Test("a view's event arrives with the contexts of all levels above it") func contexts() {
        let recorder = RecordingSink()
        let window = Window(pages: 2, EventOutlet(recorder.publisher))
        window.sidebar.search.type("pan")
        window.sidebar.search.type("s")
        window.sidebar.search.clear()
        window.sidebar.click(row: 3)
        window.charts[1].pinch(2)
        window.charts[0].export()
        window.close()
        #expect(
            recorder.events(of: WindowEvent.self) == [
                .opened, .sidebar(.search(.typed(length: 3))), .sidebar(.search(.typed(length: 4))),
                .sidebar(.search(.cleared)), .sidebar(.selected(row: 3)), .chart(.zoomed(by: 2), page: 2),
                .chart(.exported, page: 1), .closed,
            ])
    }
    @Test("views keep nobody alive, and nobody keeps them") func released() {
        let publisher = EventPublisher()
        weak let window = { Window(pages: 1, EventOutlet(publisher)) }()
        #expect(window == nil)
    }
    @Test("the service counts what the window did, in order, and nothing once the reporter is gone")
    func counted() async throws {
        let harness = TestHarness()
        let service = try EventService(name: "org.example.Analytics", on: harness.bus, exporting: Analytics1.self)
        let counter = UseCounter(service)
        try await harness.start(service)
        let relay = try EventRelay(following: "org.example.Analytics", on: harness.bus, interfaces: Analytics1.self)
        let counts = RecordingSink(relay.publisher)
        let interest = relay.publisher.subscribe(to: UseCounted.self, delivery: .immediate) { _ in
        } onGap: { _ in
        }
        relay.activate()
        let publisher = EventPublisher()
        let trouble = Mutex<[String]>([])
        do {
            let reporter = UseReporter(publisher, to: relay) { text in trouble.withLock { $0.append(text) } }
            let window = Window(pages: 1, EventOutlet(publisher))
            window.charts[0].pinch(2)
            window.charts[0].pinch(2)
            #expect(await counts.wait(for: 3, of: UseCounted.self))
            withExtendedLifetime(reporter) {}
        }
        Window(pages: 1, EventOutlet(publisher)).close()
        try await harness.settle()
        #expect(
            counts.events(of: UseCounted.self) == [
                UseCounted(what: "opened", count: 1), UseCounted(what: "chart.zoomed", count: 1),
                UseCounted(what: "chart.zoomed", count: 2),
            ])
        #expect(trouble.withLock { $0 }.isEmpty)
        withExtendedLifetime((counter, interest)) {}
    }
}
