import RelayCore
import TestTraits
import Testing

@testable import relay_cli

@Suite("What a bridge says of a service") struct BridgedServiceTests {
    private static let shop = "org.example.Shop"
    private static let orders = "org.example.shop.Orders1"
    private func status(
        _ change: (inout BridgeStatus.Export, inout BridgeStatus.Mirror) -> Void = { _, _ in }
    ) -> BridgeStatus {
        var export = BridgeStatus.Export(service: Self.shop, interface: Self.orders)
        (export.position, export.head, export.margin, export.events) = (7, 7, 1, 7)
        var mirror = BridgeStatus.Mirror(host: "hall", service: Self.shop, interface: Self.orders)
        (mirror.position, mirror.head) = (5, 5)
        change(&export, &mirror)
        var status = BridgeStatus()
        (status.host, status.carrier, status.guarantee) = ("kitchen", "nats://hub:4222", "it syncs")
        (status.exports, status.mirrors) = ([export], [mirror])
        return status
    }
    private let mirror = "org.eventrelay.Mirror1.hall.org.example.Shop"

    @Test("an origin has its exports, a mirror its channels, another service nothing") func choice() throws {
        let origin = try #require(BridgedService(Self.shop, status()))
        #expect(origin.exports.count == 1 && origin.mirrors.isEmpty)
        let copy = try #require(BridgedService(mirror, status()))
        #expect(copy.exports.isEmpty && copy.mirrors.count == 1)
        #expect(BridgedService("org.example.Other", status()) == nil)
    }
    @Test("what is up to date is well; what lags or waits says so, and what to do") func findings() throws {
        func finding(
            _ name: String, _ change: (inout BridgeStatus.Export, inout BridgeStatus.Mirror) -> Void = { _, _ in }
        ) throws -> Finding { try #require(BridgedService(name, status(change))?.findings.first) }
        #expect(
            try finding(Self.shop)
                == Finding("bridge", .ok, "\(Self.orders) is exported as kitchen, up to date; it syncs"))
        let lagging = try finding(Self.shop) { export, _ in (export.head, export.lag, export.lagSeconds) = (9, 2, 61) }
        #expect(
            lagging.grade == .warning
                && lagging.text.contains("2 events and 61 s behind; the journal may remove 1 event"))
        #expect(!lagging.remedy.isEmpty)
        let waiting = try finding(Self.shop) { export, _ in export.trouble = "no server" }
        #expect(waiting.grade == .failed && waiting.text.hasSuffix("and waits: no server"))
        #expect(try finding(mirror).text == "\(Self.orders) of hall is mirrored, up to date; it syncs")
        let slow = try finding(mirror) { _, mirror in (mirror.lag, mirror.lagSeconds) = (3, 90) }
        #expect(slow.grade == .warning && slow.text.hasSuffix("3 events and 90 s behind"))
        #expect(try finding(mirror) { _, mirror in mirror.trouble = "no disk" }.grade == .failed)
    }
    @Test("a bridge that says nonsense is shown, and does no harm", .tags(.g8)) func nonsense() throws {
        for seconds in [Double.nan, -1, -Double.infinity, .infinity, 1e300] {
            let status = status { export, mirror in
                (export.lagSeconds, mirror.lagSeconds) = (seconds, seconds)
                (export.trouble, export.position, export.margin) = ("\u{1B}[31m\n", .max, .max)
            }
            for name in [Self.shop, mirror] {
                let bridged = try #require(BridgedService(name, status))
                let text =
                    bridged.rows(Self.orders).map(\.text).joined()
                    + MetricText.text(bridged.families(name), .openMetrics)
                #expect(!text.contains("\u{1B}") && bridged.findings.count == 1, "\(text)")
                #expect(!bridged.json(Self.orders).isEmpty)
            }
        }
    }
    @Test("a page has a row for each, JSON its figures, and metrics a family each") func forms() throws {
        let origin = try #require(BridgedService(Self.shop, status()))
        #expect(
            origin.rows(Self.orders).map { "\($0.name): \($0.text)" } == [
                "exported: as kitchen up to #7, up to date; the journal may remove 1 event more before the export lacks some",
                "carrier: nats://hub:4222: it syncs",
            ])
        let copy = try #require(
            BridgedService(
                mirror, status { _, mirror in (mirror.gaps, mirror.duplicates, mirror.trouble) = (1, 2, "x") }))
        #expect(
            copy.rows(Self.orders).first?.text == "of hall up to #5, up to date; 1 gap; 2 duplicates dropped; waits: x")
        #expect(origin.rows("org.example.Other1").isEmpty && copy.json(Self.orders).first?.trouble == "x")
        let text = MetricText.text(origin.families(Self.shop) + copy.families(mirror), .openMetrics)
        for line in [
            "relay_export_lag{service=\"\(Self.shop)\",interface=\"\(Self.orders)\"} 0",
            "relay_export_margin{service=\"\(Self.shop)\",interface=\"\(Self.orders)\"} 1",
            "relay_export_events_total{service=\"\(Self.shop)\",interface=\"\(Self.orders)\"} 7",
            "relay_mirror_duplicates_total{service=\"\(mirror)\",interface=\"\(Self.orders)\"} 2",
            "relay_mirror_waiting{service=\"\(mirror)\",interface=\"\(Self.orders)\"} 1",
            "# UNIT relay_mirror_lag_seconds seconds",
        ] { #expect(text.contains(line + "\n"), "\(text)") }
    }
}
